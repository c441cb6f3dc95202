"""Files of HDFS by hdfs-native, which speaks Hadoop's own protocol: no JVM, no jar, no gateway.

It is the part of Arrow's file systems that `kernels.objects` uses, so HDFS is a store like any other.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer
    from hdfs_native import Client, FileReader, FileStatus
    from pyarrow.fs import FileInfo, FileSelector

T = TypeVar("T")

ANSWER_SECONDS: Final = 60
"""How long an answer may take. The client waits three minutes for a name node, and without end for a silent one."""
DEFAULT_PORT: Final = 8020
"""Hadoop's port of a name node that is named without one."""
_LISTED: Final = 1000
"""Files of a listing that are one answer."""


class HdfsFiles:
    """The files of one name node or name service. Names are those of Arrow: `ROOT/KEY`.

    The client does not outlive a fork: each process makes its own.
    """

    def __init__(self, root: str) -> None:
        """Raises: ImportError (hdfs-native is missing), OSError (no such name service)."""
        self._root = root
        with _os_errors():
            self._client = _client(root)

    def get_file_info(self, asked: list[str] | FileSelector) -> list[FileInfo]:
        """Return what is at paths, or below a folder. Raises: OSError."""
        if isinstance(asked, list):
            return [self._at(name) for name in asked]
        path, deep = self._path(asked.base_dir), asked.recursive
        listing = self.ask(lambda: self._client.list_status(path, deep))
        found: list[FileInfo] = []
        while some := self.ask(lambda: list(islice(listing, _LISTED))):
            found += map(self._info, some)
        return found

    def open_input_file(self, name: str) -> HdfsFile:
        """Return a file, open for reading. Raises: OSError."""
        return HdfsFile(self, self.ask(lambda: self._client.read(self._path(name))))

    def ask(self, question: Callable[[], T]) -> T:
        """Return the answer of the client. Raises: OSError."""
        with _os_errors():
            try:
                return _answer(question)
            except TimeoutError:
                # A connection that is silent stays so: the next question gets another one.
                self._client = _client(self._root)
                raise

    def _at(self, name: str) -> FileInfo:
        from pyarrow.fs import FileInfo, FileType

        try:
            return self._info(self.ask(lambda: self._client.get_file_info(self._path(name))))
        except FileNotFoundError:
            return FileInfo(name, FileType.NotFound)

    def _path(self, name: str) -> str:
        return "/" + name.removeprefix(self._root).lstrip("/")

    def _info(self, status: FileStatus) -> FileInfo:
        from pyarrow.fs import FileInfo, FileType

        kind = FileType.Directory if status.isdir else FileType.File
        size, changed = None if status.isdir else status.length, status.modification_time * 1_000_000
        return FileInfo(f"{self._root}{status.path}", kind, size=size, mtime_ns=changed)


class HdfsFile(io.RawIOBase):
    """An open file. The client panics at a place behind the end of a file, so the place is kept here."""

    def __init__(self, files: HdfsFiles, reader: FileReader) -> None:
        self._files, self._reader, self._place = files, reader, 0
        self._size = len(reader)

    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer from here, and return the number of its bytes: 0 at the end. Raises: OSError."""
        room = memoryview(buffer).cast("B")
        wanted = max(0, min(len(room), self._size - self._place))
        if wanted:
            room[:wanted] = self._files.ask(lambda: self._reader.read_range(self._place, wanted))
            self._place += wanted
        return wanted

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, which may be behind the end, and return it."""
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place


def _client(root: str) -> Client:
    from hdfs_native import Client

    try:
        return Client(f"hdfs://{root}")
    except RuntimeError:
        # No name service of Hadoop's configuration has this name: it is a host.
        if ":" in root:
            raise
        return Client(f"hdfs://{root}:{DEFAULT_PORT}")


def _answer(question: Callable[[], T]) -> T:
    """Return what the client says, or raise TimeoutError: its thread is left alone then."""
    answer: Future[T] = Future()

    def ask() -> None:
        try:
            answer.set_result(question())
        except (OSError, RuntimeError, ValueError) as error:
            answer.set_exception(error)

    threading.Thread(target=ask, name="hdfs", daemon=True).start()
    return answer.result(ANSWER_SECONDS)


@contextmanager
def _os_errors() -> Iterator[None]:
    """Raise errors of the client as OSError, with its text."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        # A file stands where the path has a folder: Hadoop denies access to it.
        if "(is not a directory)" in str(error):
            raise FileNotFoundError from None
        raise OSError(str(error)) from None

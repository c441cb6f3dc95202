"""Objects of a store: looked up, listed and opened through Arrow, by the driver and by tasks.

A path is `s3://BUCKET/KEY` in bytes. The key is literal: `?`, `#`, `%` and `*` are ordinary characters of it.
Credentials, region and endpoint are those of the process: `AWS_..` in its environment, a profile, the machine's role.
"""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer
    from pyarrow import NativeFile
    from pyarrow.fs import FileSystem

SCHEME: Final = b"s3://"
BUFFER_BYTES: Final = 8 * 1024 * 1024
"""Bytes of one request: each costs a round trip."""

_AWS_ERROR: Final = re.compile(r"AWS Error ([A-Z_]+)(?: \(HTTP status (\d+)\))?")
_NOT_ALLOWED: Final = frozenset(
    ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "INVALID_CLIENT_TOKEN_ID", "SIGNATURE_DOES_NOT_MATCH", "EXPIRED_TOKEN",
     "INVALID_SIGNATURE", "UNRECOGNIZED_CLIENT", "MISSING_AUTHENTICATION_TOKEN", "ACCESS_DENIED_EXCEPTION")
)  # fmt: skip
_NOT_THERE: Final = frozenset(("NO_SUCH_BUCKET", "NO_SUCH_KEY", "RESOURCE_NOT_FOUND"))

ObjectKind = Literal["file", "folder"]


def is_object(path: bytes) -> bool:
    """Return whether a path is one of an object. Paths of files begin with `/`."""
    return path.startswith(SCHEME)


def has_plain_parts(key: Sequence[str]) -> bool:
    """Return whether no part of a key is empty, `.` or `..`: requests would ask for another object, even of another
    bucket, since HTTP resolves such parts.
    """
    return {"", ".", ".."}.isdisjoint(key)


def look_up(path: bytes) -> tuple[ObjectKind | None, int]:
    """Return what is at a path and its size in bytes: an object, a prefix of objects ("folder"), or nothing.

    Raises: OSError (access denied, no connection).
    """
    store, name = _store(path)
    with _plain_errors():
        [info] = store.get_file_info([name])
    if info.is_file:
        return "file", info.size
    return ("folder", 0) if info.type.name == "Directory" else (None, 0)


def objects_below(path: bytes, *, deep: bool = True) -> Iterator[tuple[bytes, int]]:
    """Yield path and size in bytes of the objects below a prefix; without `deep` those directly below it.

    Raises: OSError (no such bucket, access denied, no connection).
    """
    from pyarrow.fs import FileSelector

    store, name = _store(path)
    with _plain_errors():
        found = store.get_file_info(FileSelector(name, recursive=deep))
    for info in found:
        if info.is_file:
            yield SCHEME + info.path.encode("utf-8"), info.size


def open_object(path: bytes) -> BinaryIO:
    """Open an object for reading. Raises: OSError (no such object, access denied, no connection)."""
    store, name = _store(path)
    with _plain_errors():
        return io.BufferedReader(_Object(store.open_input_file(name)), BUFFER_BYTES)


class _Object(io.RawIOBase):
    """An object as a raw stream, whose errors are those of a file."""

    def __init__(self, stream: NativeFile) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        with _plain_errors():
            return int(self._stream.readinto(buffer))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with _plain_errors():
            return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._stream.close()


def _store(path: bytes) -> tuple[FileSystem, str]:
    name = path.removeprefix(SCHEME).decode("utf-8").rstrip("/")
    bucket, *key = name.split("/")
    if not has_plain_parts(key):
        raise OSError(errno.EINVAL, "its key has an empty part, `.` or `..`")
    return _of_bucket(bucket), name


@lru_cache(maxsize=64)
def _of_bucket(bucket: str) -> FileSystem:
    from pyarrow.fs import FileSystem

    # By bucket, since Arrow asks for the region of each; without the key, since Arrow would decode it.
    with _plain_errors():
        return FileSystem.from_uri(f"{SCHEME.decode()}{bucket}")[0]


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Raise Arrow's errors as OSError with a few words in `strerror`: theirs hold addresses and answers of servers."""
    from pyarrow import ArrowException

    try:
        yield
    except FileNotFoundError:
        raise OSError(errno.ENOENT, "no such object") from None
    except (OSError, ArrowException) as error:
        found = _AWS_ERROR.search(str(error))
        if found is None:
            raise OSError(errno.EIO, f"the store refuses the path ({type(error).__name__})") from None
        # These numbers make it a PermissionError or a FileNotFoundError.
        is_denied = found[1] in _NOT_ALLOWED or found[2] == "403"
        number = errno.EACCES if is_denied else errno.ENOENT if found[1] in _NOT_THERE else errno.EIO
        status = f" (HTTP {found[2]})" if found[2] else ""
        raise OSError(number, f"the store says {found[1].lower().replace('_', ' ')}{status}") from None

"""Block stores in the folder of a node: files with one block each, and LevelDB. Read-only, without Spark."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import open_file, size_of, why_unreadable

LEVELDB_MARK: Final = "CURRENT"
LOCK: Final = "LOCK"
_NOT_COPIED: Final = (LOCK, "LOG", "LOG.old")
_LIBRARIES: Final = ("plyvel", "plyvel_next")


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores below a folder: files that may be blocks, in the order of their paths, and LevelDB folders."""

    files: tuple[Path, ...]
    databases: tuple[Path, ...]


def find_stores(folder: Path, ending: str) -> Stores:
    """Return the files below `folder` whose names have the ending, and the LevelDB folders. Follows no links.

    Raises:
        UsageError: NO_BLOCK_STORE (not a folder, or no store in it).
        FaultError: SOURCE_UNREADABLE.
    """
    if not folder.is_dir():
        raise UsageError(
            "NO_BLOCK_STORE", f"{folder} is not a folder", "name the folder in which a node stores its blocks"
        )
    files: list[Path] = []
    databases: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_unreadable):
        folders.sort()
        here = Path(place)
        if LEVELDB_MARK in names:
            databases.append(here)
        found = (here / name for name in sorted(names) if name.endswith(ending))
        files += (path for path in found if path.is_file() and not path.is_symlink())
    if not files and not databases:
        raise UsageError(
            "NO_BLOCK_STORE",
            f"the folder {folder} has no block store: no file *{ending} and no LevelDB",
            "name the folder in which a node stores its blocks",
        )
    return Stores(tuple(files), tuple(databases))


def content_of(path: Path, most: int) -> bytes | None:
    """Return the bytes of a file, or None without reading it if it has more than `most`. Follows no links.

    Raises: FaultError SOURCE_UNREADABLE.
    """
    try:
        with open_file(path, follow=False) as stream:
            if size_of(stream) > most:
                return None
            content = stream.read(most + 1)
    except OSError as error:
        raise _not_readable(path, error) from error
    return content if len(content) <= most else None


class Database:
    """A LevelDB: the folder of a node, and a copy of it, which is opened. Reads verify checksums.

    Every method raises: FaultError LEVELDB_DAMAGED.
    """

    def __init__(self, leveldb: Any, folder: Path, copy: Path) -> None:
        self._leveldb = leveldb
        self._folder = folder
        self._copy = copy

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, or None."""
        with self._opened() as opened:
            value: bytes | None = opened.get(key, verify_checksums=True)
            return value

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every key with its value, by key."""
        with self._opened() as opened:
            # The library's simple iterator treats a table that cannot be opened as empty.
            cursor = opened.raw_iterator(verify_checksums=True, fill_cache=False)
            cursor.seek_to_first()
            while cursor.valid():
                yield cursor.item()
                cursor.next()

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            opened = self._leveldb.DB(str(self._copy), create_if_missing=False, paranoid_checks=True)
            try:
                yield opened
            finally:
                opened.close()
        except self._leveldb.Error as error:
            text = str(error).replace(str(self._copy), str(self._folder))
            raise FaultError(
                "LEVELDB_DAMAGED",
                f"The LevelDB {self._folder} is damaged: {text}.",
                "Use a copy of it, or let its node repair it; nothing was written.",
            ) from error


@contextmanager
def copied_databases(folders: Sequence[Path], parent: Path) -> Iterator[tuple[Database, ...]]:
    """Copy LevelDB folders into a temporary folder in `parent`, which is removed at the end.

    LevelDB writes to a database when it opens it, so the original is never opened. Follows no links.

    Raises:
        FaultError: LEVELDB_MISSING (no library), LEVELDB_LOCKED, SOURCE_UNREADABLE (also for a link), DISK_TOO_SMALL,
            OUT_NOT_WRITABLE.
    """
    if not folders:
        yield ()
        return
    leveldb = _library(folders[0])
    for folder in folders:
        _check_unlocked(folder)
    _check_room(folders, parent)
    try:
        place = tempfile.mkdtemp(prefix=".unpack-", dir=parent)
    except OSError as error:
        raise FaultError(
            "OUT_NOT_WRITABLE",
            f"The folder {parent} cannot be written: {error.strerror}.",
            "Name a file in another folder.",
        ) from error
    try:
        yield tuple(
            Database(leveldb, folder, _copied(folder, Path(place, str(number))))
            for number, folder in enumerate(folders)
        )
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copied(folder: Path, copy: Path) -> Path:
    copy.mkdir()
    for path in _files_of(folder):
        try:
            with open_file(path, follow=False) as stream, (copy / path.name).open("xb") as out:
                shutil.copyfileobj(stream, out)
        except OSError as error:
            raise _not_readable(path, error) from error
    return copy


def _files_of(folder: Path) -> list[Path]:
    """Return the files of a LevelDB, including links, which are refused when they are opened."""
    return [
        path
        for path in sorted(folder.iterdir())
        if path.name not in _NOT_COPIED and (path.is_symlink() or path.is_file())
    ]


def _check_room(folders: Sequence[Path], parent: Path) -> None:
    """Check that the copies fit before the first byte is copied. A sparse file can claim any size."""
    try:
        needed = sum(path.lstat().st_size for folder in folders for path in _files_of(folder))
        free = shutil.disk_usage(parent).free
    except OSError as error:
        raise _not_readable(folders[0], error) from error
    if needed > free:
        raise FaultError(
            "DISK_TOO_SMALL",
            f"reading LevelDB needs a copy of {needed:,} bytes, but {parent} has only {free:,} free",
            "name a file on a larger disk with --out",
        )


def _check_unlocked(folder: Path) -> None:
    """Check that no process has the LevelDB open: a copy would mix several states of it."""
    try:
        import fcntl
    except ImportError:  # Windows: the file of a held lock cannot be opened there.
        fcntl = None  # type: ignore[assignment]
    try:
        with open_file(folder / LOCK, follow=False) as lock:
            if fcntl is not None:
                # A read lock also works without write access. Closing the file releases it.
                fcntl.lockf(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FaultError(
            "LEVELDB_LOCKED",
            f"The LevelDB {folder} is open in another process.",
            "Stop the node, or unpack a copy of its folder.",
        ) from error


def library_package(python: tuple[int, ...]) -> str:
    """Return the package of the extra `leveldb` that has wheels for a version of Python."""
    return "plyvel-ci" if python < (3, 12) else "plyvel-next"


def _library(folder: Path) -> Any:
    for name in _LIBRARIES:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise FaultError(
        "LEVELDB_MISSING",
        f"The folder {folder} is a LevelDB, but no library that reads it is installed.",
        f"Install it: `{sys.executable} -m pip install {library_package(sys.version_info[:2])}`.",
    )


def _unreadable(error: OSError) -> None:
    raise _not_readable(Path(error.filename), error) from error


def _not_readable(path: Path, error: OSError) -> FaultError:
    return FaultError(
        "SOURCE_UNREADABLE",
        f"The file {path} cannot be read: {why_unreadable(error)}.",
        "Correct that and run the command again.",
    )

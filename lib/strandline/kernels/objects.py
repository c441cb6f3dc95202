"""Objects of a store: looked up, listed and opened by its client, by the driver and by tasks.

A path is `SCHEME://ROOT/KEY` in bytes, as `kernels.object_stores` has it. The key is literal: `?`, `#`, `%` and `*` are
ordinary characters of it.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple

from strandline.kernels.object_errors import plain_errors
from strandline.kernels.object_stores import BY_SCHEME, STORES, ObjectStore

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem

BUFFER_BYTES: Final = 8 * 1024 * 1024
"""Bytes of one request: each costs a round trip."""

ObjectKind = Literal["file", "folder"]

_BEGINNINGS: Final = tuple(f"{store.scheme}://".encode() for store in STORES)


def is_object(path: bytes) -> bool:
    """Return whether a path is one of an object. Paths of files begin with `/`."""
    return path.startswith(_BEGINNINGS)


def store_of(path: bytes) -> ObjectStore:
    """Return the store of a path of an object."""
    return BY_SCHEME[path.partition(b"://")[0].decode()]


def has_plain_parts(key: Sequence[str]) -> bool:
    """Return whether no part of a key is empty, `.` or `..`: requests would ask for another object, even of another
    bucket, since HTTP resolves such parts.
    """
    return {"", ".", ".."}.isdisjoint(key)


def look_up(path: bytes) -> tuple[ObjectKind | None, int]:
    """Return what is at a path and its size in bytes: an object, a prefix of objects ("folder"), or nothing.

    A bucket is not looked up but called a folder: who may list one need not be allowed to ask for it.

    Raises: OSError (access denied, no connection).
    """
    place = _Place.of(path)
    if not place.key:
        return "folder", 0
    with plain_errors(place.store):
        [info] = place.files.get_file_info([place.name])
        is_mark = info.is_file and _is_mark(place, info)
    if info.is_file and not is_mark:
        return "file", info.size
    return ("folder", 0) if is_mark or info.type.name == "Directory" else (None, 0)


def root_exists(path: bytes) -> bool:
    """Return whether the bucket of a path exists, or its folder in a store that has folders.

    True if the store does not answer, or may not be asked.
    """
    try:
        place = _Place.of(path)
        asked = place if place.store.has_folders else replace(place, key="")
        with plain_errors(place.store):
            [info] = place.files.get_file_info([asked.name])
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return bool(info.type.name != "NotFound")


class ListedObject(NamedTuple):
    """An object of a list: its path, its bytes, its last change in nanoseconds; None if the store does not tell."""

    path: bytes
    size: int
    changed: int | None = None


def objects_below(path: bytes, *, deep: bool = True) -> Iterator[ListedObject]:
    """Yield the objects below a prefix; without `deep` those directly below it.

    A key with an empty part or `..` that a store lists only as a folder is yielded so far, with size 0: no request is
    made for it, and whoever opens it learns why.

    Raises: OSError (no such bucket, access denied, no connection).
    """
    from pyarrow.fs import FileSelector

    place = _Place.of(path)
    at_once = deep and not place.store.lists_by_folder
    folders = [place.name]
    while folders:
        folder = folders.pop()
        with plain_errors(place.store):
            found = place.files.get_file_info(FileSelector(folder, recursive=at_once))
        for info in found:
            if info.is_file:
                with plain_errors(place.store):
                    is_mark = _is_mark(place, info)
                if not is_mark:
                    yield ListedObject(place.path_of(info.path), info.size, info.mtime_ns)
            elif not at_once and deep:
                inner = info.path.rstrip("/")
                if not inner.startswith(f"{folder}/"):
                    yield ListedObject(place.path_of(f"{folder}//"), 0)
                elif has_plain_parts(inner.split("/")):
                    folders.append(inner)
                else:
                    yield ListedObject(place.path_of(inner), 0)


def _is_mark(place: _Place, info: FileInfo) -> bool:
    """Return whether an object only stands for a folder: an empty one that Hadoop writes, and Arrow does not open."""
    if info.size or not place.store.lists_by_folder:
        return False
    try:
        place.files.open_input_file(info.path).close()
    except OSError as error:
        if "Not a regular file" in str(error):
            return True
        raise
    return False


def open_object(path: bytes) -> BinaryIO:
    """Open an object for reading. Raises: OSError (no such object, access denied, no connection)."""
    place = _Place.of(path)
    with plain_errors(place.store):
        opened = _Object(place.files.open_input_file(place.name), place.store)
        return io.BufferedReader(opened, BUFFER_BYTES)


class _Object(io.RawIOBase):
    """An object as a raw stream, whose errors are those of a file."""

    def __init__(self, stream: NativeFile, store: ObjectStore) -> None:
        self._stream, self._store = stream, store

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        with plain_errors(self._store):
            return int(self._stream.readinto(buffer))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with plain_errors(self._store):
            return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._stream.close()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where Arrow finds a path: `name` in the file system `files`."""

    store: ObjectStore
    root: str
    key: str
    files: FileSystem

    @staticmethod
    def of(path: bytes) -> _Place:
        store = store_of(path)
        root, _, key = path.decode("utf-8").removeprefix(f"{store.scheme}://").partition("/")
        if key and not has_plain_parts(key.split("/")):
            raise OSError(errno.EINVAL, "its key has an empty part, `.` or `..`")
        return _Place(store, root, key, _files(store, root))

    @property
    def name(self) -> str:
        return "/".join(filter(None, (self._bucket, self.key)))

    def path_of(self, name: str) -> bytes:
        """Return the path of what Arrow calls `name`."""
        key = name.removeprefix(f"{self._bucket}/")
        return f"{self.store.scheme}://{self.root}/{key}".encode()

    @property
    def _bucket(self) -> str:
        return self.root.partition("@")[0]


@lru_cache(maxsize=64)
def _files(store: ObjectStore, root: str) -> FileSystem:
    try:
        with plain_errors(store):
            return store.file_system(root, os.environ)
    except ImportError:
        lacks = f"{store.package} is missing" if store.package else "pyarrow is built without this store"
        raise OSError(errno.ENOTSUP, lacks) from None

"""Files in folders that others can write: opened once and checked by descriptor, never again by path."""

import errno
import os
import secrets
import stat
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

AnyPath = bytes | str | os.PathLike[str]

_READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
_NEW: Final = os.O_WRONLY | os.O_CLOEXEC | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_MORE: Final = os.O_WRONLY | os.O_CLOEXEC | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
_UNTRUSTED: Final = b"//"
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISLNK, "a link"),
)


class NotAFileError(OSError):
    """The path is not a regular file. `strerror` names its type."""


def guarded(root: bytes, below: bytes) -> bytes:
    """Return the path of a file `below` a folder: links in `root` are followed, links after it are not.

    It is an ordinary path with `//` between the two parts, so it can be a value of a row.
    """
    return root.rstrip(b"/") + _UNTRUSTED + below.strip(b"/")


def unguarded(path: bytes) -> bytes:
    """Return a path of `guarded` in the usual form, for messages."""
    return path.replace(_UNTRUSTED, b"/", 1)


def open_file(path: AnyPath, *, follow: bool = True) -> BufferedReader:
    """Open a regular file for reading. A pipe, device, socket or folder is refused without blocking.

    No link after `//` in the path (see `guarded`) is followed; without `follow` the last part is not followed either.
    Raises: OSError, also NotAFileError.
    """
    root, _, below = os.fsencode(path).partition(_UNTRUSTED)
    if root and below:
        opened = _open_below(root, below.split(b"/"))
    else:
        opened = os.open(path, _READ if follow else _READ | os.O_NOFOLLOW)
    try:
        _check_kind(os.fstat(opened).st_mode, path)
        os.set_blocking(opened, True)
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def size_of(stream: BinaryIO) -> int:
    """Return the bytes of an opened file."""
    return os.fstat(stream.fileno()).st_size


def create_file(folder: AnyPath) -> tuple[BinaryIO, Path]:
    """Create a file in `folder`, open for writing, with a random name. Return it and its path.

    It has the mode of any new file. Raises: OSError.
    """
    path = Path(os.fsdecode(folder), f".strandline-{secrets.token_hex(8)}")
    return os.fdopen(os.open(path, _NEW, 0o666), "wb"), path


def check_replaceable(path: AnyPath) -> None:
    """Check that a new file can take the place of what is at `path`, or where a link there leads to.

    The move of a file to `/dev/null` would replace the device. Raises: NotAFileError; OSError.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return
    _check_kind(found.st_mode, path)


def append_to(path: AnyPath, content: bytes) -> None:
    """Append bytes to a file, which is created if it is not there; a link is not followed. Raises: OSError."""
    with os.fdopen(os.open(path, _MORE, 0o666), "ab") as stream:
        stream.write(content)


def why_unreadable(error: OSError) -> str:
    """Return in a few words why a file could not be opened or read."""
    if isinstance(error, NotAFileError):
        return str(error.strerror)
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a link replaced it or a folder above it"
    return (error.strerror or type(error).__name__).lower()


def _check_kind(mode: int, path: AnyPath) -> None:
    """Check that `mode` is that of a regular file. Raises: NotAFileError."""
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "a device")
        raise NotAFileError(errno.EINVAL, f"it is {kind}", os.fsdecode(path))


def _open_below(root: bytes, parts: list[bytes]) -> int:
    if not set(parts).isdisjoint((b"", b".", b"..")):
        raise ValueError(f"not a path without links: {parts}")
    place = os.open(root, _FOLDER)
    for part in parts[:-1]:
        try:
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=place)
        finally:
            os.close(place)
        place = inner
    try:
        return os.open(parts[-1], _READ | os.O_NOFOLLOW, dir_fd=place)
    finally:
        os.close(place)

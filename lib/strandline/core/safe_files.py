"""Files in folders that others may write: opened once, and judged by what was opened, never by their path again."""

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import BinaryIO, Final

AnyPath = bytes | str | os.PathLike[str]

_READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
_NEW: Final = os.O_WRONLY | os.O_CLOEXEC | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_UNTRUSTED: Final = b"//"
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISLNK, "a link"),
)


class NotAFileError(OSError):
    """What was opened is no regular file. `strerror` says what it is."""


def guarded(root: bytes, below: bytes) -> bytes:
    """Return the path of a file `below` a folder: links in `root` are followed, in the rest none is.

    It is an ordinary path, in which `//` stands between both, so it may be a value of a row.
    """
    return root.rstrip(b"/") + _UNTRUSTED + below.strip(b"/")


def spelled(path: bytes) -> bytes:
    """Return the path that `guarded` made, as people write it."""
    return path.replace(_UNTRUSTED, b"/", 1)


def open_file(path: AnyPath, *, follow: bool = True) -> BinaryIO:
    """Return a regular file, opened to be read. A pipe, device, socket or folder is refused and never waited for.

    Behind `//` in the path (see `guarded`) no part of it is followed where it is a link; without `follow` the last
    part is not.
    Raises: OSError, NotAFileError among them.
    """
    root, _, below = os.fsencode(path).partition(_UNTRUSTED)
    if root and below:
        opened = _open_below(root, below.split(b"/"))
    else:
        opened = os.open(path, _READ if follow else _READ | os.O_NOFOLLOW)
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "a device")
            raise NotAFileError(errno.EINVAL, f"it is {kind}", os.fsdecode(path))
        os.set_blocking(opened, True)
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def size_of(stream: BinaryIO) -> int:
    """Return the bytes of an opened file."""
    return os.fstat(stream.fileno()).st_size


def create_file(folder: AnyPath) -> tuple[BinaryIO, Path]:
    """Return a new file in `folder`, opened to be written, and its path, which nobody could foresee.

    Its mode is that of any new file. Raises: OSError.
    """
    path = Path(os.fsdecode(folder), f".strandline-{secrets.token_hex(8)}")
    return os.fdopen(os.open(path, _NEW, 0o666), "wb"), path


def why_unreadable(error: OSError) -> str:
    """Return in a few words why a file could not be opened or read."""
    if isinstance(error, NotAFileError):
        return str(error.strerror)
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a link has taken its place, or that of a folder above it"
    return (error.strerror or type(error).__name__).lower()


def _open_below(root: bytes, parts: list[bytes]) -> int:
    if not set(parts).isdisjoint((b"", b".", b"..")):
        raise ValueError(f"no path without links: {parts}")
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

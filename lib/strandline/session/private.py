"""A private temporary folder of a session, which is removed when its owner ends.

A killed process removes nothing: the next one that creates such a folder does. A lock on a file in the folder shows
that its owner lives; a process id could belong to another process by then.
"""

import atexit
import fcntl
import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

PREFIX: Final = "strandline-"
OWNER: Final = "owner.lock"
_UNOWNED: Final = ".owner.lock.new"
_LOOK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """A folder of mode 0700. A process that inherits the descriptor `owner` also owns it: it stays until both end."""

    path: Path
    owner: int


_made: Final[dict[Path, tuple[int, int]]] = {}
"""The folders of this process, each with the process that created it (a fork removes none) and its lock."""


def make_private(base: Path) -> PrivateFolder:
    """Create a private folder in `base`, which is removed at any end of this process that can be caught.

    Folders of killed processes in `base` are removed first.
    Raises: OSError if `base` cannot be written.
    """
    remove_left(base)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    owner = os.open(path / _UNOWNED, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    # Locked before it gets its name: other processes never see it without an owner.
    fcntl.flock(owner, fcntl.LOCK_EX)
    (path / _UNOWNED).rename(path / OWNER)
    if not _made:
        atexit.register(remove_made)
        _remove_on_signals()
    _made[path] = (os.getpid(), owner)
    return PrivateFolder(path, owner)


def remove_made() -> None:
    """Remove the private folders of this process."""
    for path, (process, owner) in list(_made.items()):
        if process == os.getpid():
            shutil.rmtree(path, ignore_errors=True)
            os.close(owner)
            del _made[path]


def remove_left(base: Path) -> None:
    """Remove this user's private folders in `base` whose owners have ended. Follows no links."""
    try:
        place = os.open(base, _LOOK & ~os.O_NOFOLLOW | os.O_DIRECTORY)
    except OSError:
        return
    try:
        for name in os.listdir(place):
            if name.startswith(PREFIX) and _has_no_owner(place, name):
                _remove(place, name)
    finally:
        os.close(place)


def _remove(place: int, name: str) -> None:
    try:
        shutil.rmtree(name, dir_fd=place)
    except OSError:
        return  # another process was faster, or the folder was replaced


def _has_no_owner(place: int, name: str) -> bool:
    """Return whether a folder of this user has a lock file that no process holds. Uses only descriptors."""
    try:
        folder = os.open(name, _LOOK | os.O_DIRECTORY, dir_fd=place)
    except OSError:
        return False
    try:
        return _is_ours(folder, stat.S_ISDIR) and _is_unlocked(folder)
    finally:
        os.close(folder)


def _is_unlocked(folder: int) -> bool:
    try:
        owner = os.open(OWNER, _LOOK, dir_fd=folder)
    except OSError:
        return False
    try:
        if not _is_ours(owner, stat.S_ISREG):
            return False
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # locked by its owner, or on a file system without locks
    else:
        return True
    finally:
        os.close(owner)


def _is_ours(opened: int, is_kind: Callable[[int], bool]) -> bool:
    found = os.fstat(opened)
    return is_kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _remove_on_signals() -> None:
    """Remove the folders before SIGTERM or SIGHUP ends the process, unless it has another handler."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _ended)


def _ended(number: int, _frame: FrameType | None) -> None:
    remove_made()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)

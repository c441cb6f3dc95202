"""A folder that only this user may enter, for all that a session writes beside its tables; it goes as its owner ends.

A process that is killed removes nothing: the next one that makes such a folder does. That an owner lives is told by
a lock that it holds on a file in its folder, never by a process id, which may be another's by then.
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
    """A folder of mode 0700. Whoever inherits the descriptor `owner` owns the folder, too: it stays until both end."""

    path: Path
    owner: int


_made: Final[dict[Path, tuple[int, int]]] = {}
"""Each folder of this process, with the process that made it (a fork removes nothing) and its lock."""


def make_private(base: Path) -> PrivateFolder:
    """Make a private folder in `base`, removed when this process ends in any way that can be caught.

    What was left in `base` by processes that were killed is removed first.
    Raises: OSError where `base` cannot be written.
    """
    remove_left(base)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    owner = os.open(path / _UNOWNED, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    # Locked before others see it under its name: no moment tells them that nobody owns it.
    fcntl.flock(owner, fcntl.LOCK_EX)
    (path / _UNOWNED).rename(path / OWNER)
    if not _made:
        atexit.register(remove_made)
        _remove_on_sigterm()
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
    """Remove the private folders in `base` whose owners have ended, of this user alone. No link is followed."""
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
        return  # another process was faster, or it is no longer what was looked at


def _has_no_owner(place: int, name: str) -> bool:
    """Return whether a folder of ours has a lock file that no process holds; judged by descriptors alone."""
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
        return False  # held by its owner, or on a file system that knows no locks
    else:
        return True
    finally:
        os.close(owner)


def _is_ours(opened: int, is_kind: Callable[[int], bool]) -> bool:
    found = os.fstat(opened)
    return is_kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _remove_on_sigterm() -> None:
    """Remove them before SIGTERM ends the process, where nobody else handles it."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _ended)


def _ended(number: int, _frame: FrameType | None) -> None:
    remove_made()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)

"""Private folders: for one user, gone with their owner, and removed after an owner that was killed."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from strandline.session import private
from strandline.session.private import OWNER, PREFIX, make_private, remove_left

OWNS = """
import signal, sys, time
from pathlib import Path
from strandline.session.private import make_private
# A shell starts a command in the background with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
made = make_private(Path(sys.argv[1]))
(made.path / "spark").mkdir()
(made.path / "spark" / "block").write_bytes(b"secret")
print(made.path, flush=True)
time.sleep(float(sys.argv[2]))
"""


@contextmanager
def an_owner(base: Path, seconds: float = 60) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process of its own with a private folder in `base`."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNS, str(base), str(seconds)], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()


def test_nobody_else_may_enter_it(tmp_path: Path) -> None:
    made = make_private(tmp_path)
    assert made.path.parent == tmp_path
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o700


@pytest.mark.large
@pytest.mark.parametrize("ending", [None, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_goes_with_its_process(tmp_path: Path, ending: signal.Signals | None) -> None:
    with an_owner(tmp_path, 0 if ending is None else 60) as (process, folder):
        if ending is not None:
            assert (folder / "spark" / "block").exists()
            process.send_signal(ending)
        code = process.wait(timeout=30)
    assert code == (-ending if ending else 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.large
def test_after_a_kill_the_next_owner_removes_it_and_those_of_the_living_stay(tmp_path: Path) -> None:
    with an_owner(tmp_path) as (killed, left), an_owner(tmp_path) as (_, alive):
        killed.kill()
        killed.wait(timeout=30)
        assert left.exists()
        mine = make_private(tmp_path)
        assert set(tmp_path.iterdir()) == {alive, mine.path}
        assert (alive / "spark" / "block").exists()


def left(folder: Path) -> Path:
    """A folder as a killed process leaves it."""
    folder.mkdir(mode=0o700)
    (folder / "data").write_bytes(b"x")
    (folder / OWNER).touch(mode=0o600)
    return folder


def test_a_process_that_inherits_the_lock_owns_the_folder_too(tmp_path: Path) -> None:
    place = left(tmp_path / f"{PREFIX}a")
    held = os.open(place / OWNER, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    heir = subprocess.Popen(["sleep", "60"], pass_fds=[held])
    os.close(held)
    try:
        remove_left(tmp_path)
        assert place.exists()
    finally:
        heir.kill()
        heir.wait()
    remove_left(tmp_path)
    assert not place.exists()


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    left(tmp_path / f"{PREFIX}a")
    remove_left(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "kind", ["link", "link in it", "pipe", "open to all", "other name", "no lock", "locked", "file"]
)
def test_nothing_else_in_the_temporary_folder_is_touched_or_followed(tmp_path: Path, kind: str) -> None:
    victim, base = tmp_path / "victim", tmp_path / "base"
    base.mkdir()
    place = base / f"{PREFIX}x"
    held = None
    match kind:
        case "link":
            place.symlink_to(left(victim), target_is_directory=True)
        case "link in it":
            left(victim)
            left(place)
            (place / OWNER).unlink()
            (place / OWNER).symlink_to(victim / OWNER)
        case "pipe":
            left(place)
            (place / OWNER).unlink()
            os.mkfifo(place / OWNER, 0o600)
        case "open to all":
            left(place).chmod(0o755)
        case "other name":
            place = left(base / "other-x")
        case "no lock":
            left(place)
            (place / OWNER).unlink()
        case "locked":
            left(place)
            held = os.open(place / OWNER, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX)
        case _:
            place.touch()
    remove_left(base)
    assert os.path.lexists(place)
    assert place.is_file() or (place / "data").exists()
    assert not victim.exists() or (victim / "data").exists()
    if held is not None:
        os.close(held)


def test_a_link_in_a_left_folder_is_removed_and_what_it_names_stays(tmp_path: Path) -> None:
    victim, base = left(tmp_path / "victim"), tmp_path / "base"
    base.mkdir()
    (left(base / f"{PREFIX}a") / "out").symlink_to(victim, target_is_directory=True)
    remove_left(base)
    assert list(base.iterdir()) == []
    assert (victim / "data").exists()


def test_folders_of_another_user_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left(tmp_path / f"{PREFIX}a")
    another = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: another)
    remove_left(tmp_path)
    assert (tmp_path / f"{PREFIX}a" / "data").exists()


def test_a_fork_removes_no_folder_of_the_process_that_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned = {tmp_path / name: os.getpid() + other for name, other in (("ours", 0), ("of another", 1))}
    made = {folder: (process, os.open("/dev/null", os.O_RDONLY)) for folder, process in owned.items()}
    for folder in owned:
        folder.mkdir()
    monkeypatch.setattr(private, "_made", made)
    private.remove_made()
    assert (
        [folder.name for folder in tmp_path.iterdir()] == [folder.name for folder in made] == ["of another"]
    )
    [(_, owner)] = made.values()
    os.close(owner)

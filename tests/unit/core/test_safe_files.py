"""Files in folders of others: no link below the folder is followed, nothing is waited for, new ones are ours alone."""

import os
import socket
from pathlib import Path

import pytest

from strandline.core.safe_files import (
    NotAFileError,
    create_file,
    guarded,
    open_file,
    size_of,
    unguarded,
    why_unreadable,
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "file").write_bytes(b"secret")
    inner = tmp_path / "given" / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"content")
    return tmp_path / "given"


def below(folder: Path, rest: str) -> bytes:
    return guarded(os.fsencode(folder), os.fsencode(rest))


def test_a_file_below_a_folder_is_read_and_has_an_ordinary_path(folder: Path) -> None:
    path = below(folder, "a/b/file")
    with open_file(path) as stream:
        assert (stream.read(), size_of(stream)) == (b"content", 7)
    assert Path(os.fsdecode(path)).read_bytes() == b"content"
    assert unguarded(path) == os.fsencode(folder / "a" / "b" / "file")


def test_links_above_are_followed_and_one_that_is_given_itself(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    with open_file(below(tmp_path / "link", "a/b/file")) as stream:
        assert stream.read() == b"content"
    (tmp_path / "to file").symlink_to(folder / "a" / "b" / "file")
    with open_file(tmp_path / "to file") as stream:
        assert stream.read() == b"content"
    with pytest.raises(OSError, match="symbolic") as refused:
        open_file(tmp_path / "to file", follow=False)
    assert why_unreadable(refused.value).startswith("a link")


@pytest.mark.parametrize("swapped", ["a/b/file", "a/b", "a"])
def test_what_became_a_link_after_it_was_found_is_not_followed(folder: Path, swapped: str) -> None:
    path = below(folder, "a/b/file")
    place = folder / swapped
    place.rename(folder / "moved")
    target = folder.parent / "secret"
    place.symlink_to(target / "file" if swapped.endswith("file") else target)
    with pytest.raises(OSError) as refused:
        open_file(path)
    assert why_unreadable(refused.value) == "a link replaced it or a folder above it"


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a device", "a socket"])
def test_what_is_no_file_is_named_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    match kind:
        case "a pipe":
            os.mkfifo(path)
        case "a folder":
            path.mkdir()
        case "a device":
            path = Path("/dev/zero")
        case _:
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(str(path))
            with pytest.raises(OSError):
                open_file(path)
            return
    with pytest.raises(NotAFileError) as refused:
        open_file(path)
    assert why_unreadable(refused.value) == f"it is {kind}"


def test_what_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as gone:
        open_file(below(tmp_path, "x"))
    assert why_unreadable(gone.value) == "no such file or directory"


@pytest.mark.parametrize("rest", ["../secret/file", "a/../../secret/file", "./a"])
def test_a_path_that_leads_up_is_no_path_below(folder: Path, rest: str) -> None:
    with pytest.raises(ValueError, match="without links"):
        open_file(below(folder, rest))


def test_a_new_file_has_a_name_of_its_own_and_the_usual_mode(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    made = {path: stream for stream, path in (create_file(tmp_path) for _ in range(3))}
    for path, stream in made.items():
        stream.close()
        assert path.parent == tmp_path
        assert path.stat().st_mode == usual.stat().st_mode
    assert len(made) == 3


def test_a_new_file_never_takes_the_place_of_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "foreseen")
    victim = tmp_path / "victim"
    (tmp_path / ".strandline-foreseen").symlink_to(victim)
    with pytest.raises(FileExistsError):
        create_file(tmp_path)
    assert not victim.exists()

"""A new file appears whole or not at all."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from strandline.core.errors import FaultError, UsageError
from strandline.tables import newfile
from strandline.tables.newfile import NewFile, check_free


def test_a_file_appears_when_it_is_told_to_and_is_what_was_written(tmp_path):
    with NewFile(tmp_path / "out") as file:
        file.write(b"one ")
        assert not (tmp_path / "out").exists()
        file.write(b"two")
        written = file.publish()
    assert (tmp_path / "out").read_bytes() == b"one two"
    assert (written.path, written.bytes) == (tmp_path / "out", 7)
    assert written.sha256 == hashlib.sha256(b"one two").hexdigest()
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_that_does_not_appear_leaves_nothing_and_what_was_there_stays(tmp_path):
    (tmp_path / "out").write_bytes(b"before")
    with NewFile(tmp_path / "out") as file:
        file.write(b"half")
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"before"


def test_a_place_that_cannot_be_written_is_a_fault_that_names_it(tmp_path):
    with pytest.raises(FaultError, match="absent") as caught, NewFile(tmp_path / "absent" / "out"):
        pass
    assert caught.value.code == "OUT_NOT_WRITABLE"
    with NewFile(tmp_path / "out") as file:
        (tmp_path / "out").mkdir()
        with pytest.raises(FaultError) as caught:
            file.publish()
    assert caught.value.code == "OUT_NOT_WRITABLE"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("name", ["pipe", "to pipe"])
def test_no_pipe_or_device_is_replaced_by_a_file(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to pipe").symlink_to("pipe")
    with pytest.raises(FaultError, match="it is a pipe") as caught, NewFile(tmp_path / name):
        pass
    assert caught.value.code == "OUT_NOT_WRITABLE"
    assert sorted(os.listdir(tmp_path)) == ["pipe", "to pipe"]
    assert (tmp_path / name).is_fifo()


def test_nothing_is_overwritten_where_that_is_asked(tmp_path):
    check_free(tmp_path / "out")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    for name, code in (("link", "OUT_EXISTS"), ("file", "OUT_EXISTS"), ("", "OUT_IS_FOLDER")):
        with pytest.raises(UsageError) as caught:
            check_free(tmp_path / name)
        assert caught.value.code == code


@pytest.mark.parametrize("has_links", [True, False])
def test_a_new_file_takes_the_place_of_none_that_appeared_meanwhile(tmp_path, monkeypatch, has_links):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    for appeared, code in (
        (lambda path: path.write_bytes(b"other"), "OUT_EXISTS"),
        (Path.mkdir, "OUT_IS_FOLDER"),
    ):
        out = tmp_path / code
        with NewFile(out) as file:
            file.write(b"new")
            appeared(out)
            with pytest.raises(UsageError) as caught:
                file.publish(new=True)
        assert caught.value.code == code
    assert (tmp_path / "OUT_EXISTS").read_bytes() == b"other"
    with NewFile(tmp_path / "out") as file:
        file.write(b"new")
        file.publish(new=True)
    assert (tmp_path / "out").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["OUT_EXISTS", "OUT_IS_FOLDER", "out"]


def test_a_full_disk_is_told_and_leaves_no_hidden_file(tmp_path, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")

    class Full:
        def write(self, raw):
            raise full

        def close(self):
            # What was buffered is written once more.
            raise full

    def created(folder, create=newfile.create_file):
        stream, path = create(folder)
        stream.close()
        return Full(), path

    monkeypatch.setattr(newfile, "create_file", created)
    with (
        pytest.raises(FaultError, match="No space left on device") as caught,
        NewFile(tmp_path / "out") as file,
    ):
        file.write(b"some")
    assert caught.value.code == "OUT_NOT_WRITABLE"
    assert list(tmp_path.iterdir()) == []


def test_a_link_laid_before_is_replaced_and_its_target_stays(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"before")
    for name in ("out", f".out.{os.getpid()}"):
        (tmp_path / name).symlink_to(victim)
    with NewFile(tmp_path / "out") as file:
        file.write(b"new")
        file.publish()
    assert victim.read_bytes() == b"before"
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "out").read_bytes() == b"new"

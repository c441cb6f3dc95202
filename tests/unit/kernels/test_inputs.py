"""Paths of input are compared without their links, and a link to nothing is something."""

import os
from pathlib import Path

from strandline.kernels.inputs import exists, real_path


def test_two_paths_to_one_file_have_one_real_path(tmp_path: Path) -> None:
    folder, linked = tmp_path / "folder", tmp_path / "linked"
    folder.mkdir()
    (folder / "a").write_bytes(b"")
    linked.symlink_to(folder)
    assert real_path(bytes(linked / "a")) == real_path(bytes(folder / "a")) == os.fsencode(folder / "a")
    # A key of a store has no links, and its parts are literal.
    assert real_path(b"s3://bucket/a//../b") == b"s3://bucket/a//../b"


def test_a_link_to_nothing_is_there_and_a_name_without_a_file_is_not(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    assert exists(bytes(tmp_path / "link"))
    assert not exists(bytes(tmp_path / "nothing"))

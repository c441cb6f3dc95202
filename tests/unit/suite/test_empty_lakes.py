"""The empty lake of the tests: made once for all processes, and anew when what makes it changes."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support import empty_lakes


def test_of_many_that_ask_at_once_one_makes_the_lake_and_all_get_it(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "run").write_text("whole")

    with ThreadPoolExecutor(4) as pool:
        places = set(pool.map(lambda _: empty_lakes.kept(tmp_path, "k", make), range(8)))
    assert len(made) == 1
    assert places == {tmp_path / "k"}
    assert (tmp_path / "k" / "run").read_text() == "whole"


def test_a_lake_that_could_not_be_made_is_not_kept(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        empty_lakes.kept(tmp_path, "k", fail)
    assert [each.name for each in tmp_path.iterdir()] == ["lock"]


def test_lakes_of_older_code_go(tmp_path: Path) -> None:
    for name in "abcdef":
        empty_lakes.kept(tmp_path, name, lambda folder: None)
    assert len([each for each in tmp_path.iterdir() if each.is_dir()]) == empty_lakes.KEPT


def test_another_statement_or_another_line_of_code_is_another_lake(tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text("a")
    before = empty_lakes.digest(["CREATE"], [tmp_path])
    assert empty_lakes.digest(["CREATE"], [tmp_path]) == before
    assert empty_lakes.digest(["CREATED"], [tmp_path]) != before
    code.write_text("b")
    assert empty_lakes.digest(["CREATE"], [tmp_path]) != before
    assert len(empty_lakes.key()) == 16

"""What a file holds is told by its name or by the command, where its dialect cannot tell by the content."""

from pathlib import Path

import pytest

from strandline.core.errors import UsageError
from strandline.kernels.formats import format_of
from strandline.tables.formats import with_formats
from strandline.tables.sources import select

FORMATS = {"lines": (".jsonl", ".ndjson"), "car": (".car",)}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.jsonl", "lines"), ("A.NDJSON", "lines"), ("a.b.car", "car"), ("a.car.gz", "car"), ("a.Jsonl.ZST", "lines"),
        ("a.gz", None), ("a.car.gz.gz", None), ("jsonl", None), ("a.json", None), ("a.car.bak", None), ("", None),
    ],
)  # fmt: skip
def test_an_ending_tells_the_format_behind_one_ending_of_a_container(name: str, found: str | None) -> None:
    assert format_of(name, FORMATS) == found


def files(folder: Path, *names: str):
    for name in names:
        (folder / name).write_text("x")
    return select([str(folder)], most=10)


def test_each_file_has_the_format_of_its_name_unless_the_command_gives_one(tmp_path: Path) -> None:
    selection = files(tmp_path, "a.jsonl", "b.car")
    assert [file.format for file in with_formats(selection, FORMATS, None).files] == ["lines", "car"]
    assert [file.format for file in with_formats(selection, FORMATS, "car").files] == ["car", "car"]


def test_where_the_content_tells_names_play_no_part(tmp_path: Path) -> None:
    selection = files(tmp_path, "a.txt")
    assert with_formats(selection, {}, None) == selection


@pytest.mark.parametrize(
    ("formats", "given", "code", "words"),
    [
        (FORMATS, None, "FORMAT_MISSING", "--format one of: lines, car"),
        (FORMATS, "json", "FORMAT_UNKNOWN", "lines, car"),
        ({}, "lines", "FORMAT_UNKNOWN", "the content shows the format"),
    ],
)
def test_a_format_that_nobody_tells_is_wrong_usage(tmp_path: Path, formats, given, code, words) -> None:
    with pytest.raises(UsageError) as refused:
        with_formats(files(tmp_path, "a.txt"), formats, given)
    assert (refused.value.code, words in refused.value.next) == (code, True)

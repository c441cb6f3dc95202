"""Which folders can be followed."""

import os

import pytest

from strandline.core.errors import UsageError
from strandline.tables.paths import has_hidden_part
from strandline.tables.stream import landing_folder


def test_a_folder_is_followed_by_its_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "landing").mkdir()
    assert landing_folder("landing") == os.fsencode(tmp_path / "landing")


def test_a_colon_in_a_name_makes_no_uri(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "12:30").mkdir()
    assert landing_folder("12:30") == os.fsencode(tmp_path / "12:30")
    assert landing_folder(f"file://{tmp_path}/12:30") == os.fsencode(tmp_path / "12:30")


@pytest.mark.parametrize("name", ["a*", "a?", "[a]", "{a,b}", "a\\b"])
def test_a_folder_whose_name_spark_takes_for_a_pattern_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError) as refused:
        landing_folder(str(tmp_path / name))
    assert refused.value.code == "SOURCE_IS_PATTERN"


def test_what_is_not_there_or_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    for name, code in (("nothing", "SOURCE_MISSING"), ("file", "SOURCE_NOT_A_FOLDER")):
        with pytest.raises(UsageError) as refused:
            landing_folder(str(tmp_path / name))
        assert refused.value.code == code
    assert "prefixes of a store" in refused.value.message
    assert f"`strandline ingest {tmp_path / 'file'} --dialect NAME`" in refused.value.next


@pytest.mark.parametrize(
    ("below", "hidden"),
    [
        ("a", False), ("a/b", False), ("a_b.c", False), ("_a", True), (".a", True), ("a/_b", True), ("_a/b", True),
        ("_a=b", True), ("_metadata.journal", True), ("a._COPYING_", True), ("a._COPYING_.b", False),
    ],
)  # fmt: skip
def test_a_path_is_hidden_by_any_of_its_parts_below_the_folder(below, hidden):
    for root in (b"/_landing/.in", b"/_landing/.in/"):
        assert has_hidden_part(b"/_landing/.in/" + below.encode(), root) is hidden

"""Which folders can be followed."""

import os

import pytest

from strandline.core.errors import UsageError
from strandline.tables.stream import landing_folder


def test_a_folder_is_followed_by_its_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "landing").mkdir()
    assert landing_folder("landing") == os.fsencode(tmp_path / "landing")


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

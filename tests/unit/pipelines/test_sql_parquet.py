"""The one file that Spark writes for `sql --format parquet`."""

from pathlib import Path

import pytest

from strandline.core.errors import FaultError
from strandline.pipelines.sql import written_part


def test_the_part_that_spark_wrote_is_the_file(tmp_path):
    for name in ("_SUCCESS", ".part-0.crc", "part-0.parquet"):
        (tmp_path / name).write_text("x")
    assert written_part(tmp_path, Path("rows.parquet")) == tmp_path / "part-0.parquet"


def test_a_folder_without_a_part_was_written_elsewhere(tmp_path):
    (tmp_path / "_SUCCESS").write_text("")
    with pytest.raises(FaultError) as refused:
        written_part(tmp_path, Path("/mine/rows.parquet"))
    assert refused.value.code == "OUT_NOT_WRITTEN"
    assert "/mine/rows.parquet" in refused.value.message

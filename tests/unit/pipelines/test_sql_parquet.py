"""The one file that Spark writes for `sql --format parquet`."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strandline.core.errors import FaultError
from strandline.pipelines.sql import write_parquet, written_part


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


class Rows:
    """Rows that Spark writes in a session with at most two rows a file, unless the writer says another number."""

    def __init__(self, rows):
        self.rows, self.write, self.most = rows, self, 2

    def coalesce(self, tasks):
        assert tasks == 1
        return self

    def option(self, name, value):
        assert name == "maxRecordsPerFile"
        self.most = value or self.rows.num_rows
        return self

    def parquet(self, place):
        folder = Path(place.removeprefix("file:"))
        folder.mkdir()
        for at in range(0, self.rows.num_rows, self.most):
            pq.write_table(self.rows.slice(at, self.most), folder / f"part-{at:05}.parquet")


def test_all_rows_are_in_the_file_also_where_a_session_bounds_the_rows_of_a_file(tmp_path):
    rows, out = pa.table({"n": range(5)}), tmp_path / "rows.parquet"
    assert write_parquet(Rows(rows), out, "run") == 5
    assert pq.read_table(out).equals(rows)
    assert list(tmp_path.iterdir()) == [out]

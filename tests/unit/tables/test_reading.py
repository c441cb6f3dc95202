"""Which files Spark's own reader of lines takes."""

from pathlib import Path

import pytest

from strandline.dialects import dialect
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.dialects.sdmp.info import STRICT
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions
from strandline.tables.reading import FileScan, ReadPlan
from strandline.tables.sources import select


@pytest.mark.parametrize(
    ("name", "is_safe"),
    [("a/x", True), ("a[1]/x", False), ("a*/x", False), ("a?/x", False), ("{a,b}/x", False), ("a\\b/x", False),
     ("a b/x", False), ("a/x.gz", False), ("a/é", False), ("a:b/x", False), ("a,b/x", False)],
)  # fmt: skip
def test_only_a_path_that_means_itself_to_spark_is_left_to_its_reader(
    tmp_path: Path, name: str, is_safe: bool
) -> None:
    path = tmp_path / name
    path.parent.mkdir()
    path.write_bytes(render(synthetic(1, 9)))
    limits = ReadOptions({STRICT: "weak"}, StreamLimits(10**6, 100), RawLimits(10**6, 10))
    plan = ReadPlan(lines_min_bytes=1, split_bytes=512)
    scan = FileScan(None, select([str(path)], most=1).files, limits, plan, dialect("sdmp").split_format)
    assert scan.has_text == is_safe

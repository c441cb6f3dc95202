"""Which files are read in splits, and what a split of a text journal is told."""

from pathlib import Path

import pytest

from strandline.dialects import dialect
from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, render
from strandline.dialects.sdmp.info import STRICT
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions
from strandline.tables.file_scan import FileScan, ReadPlan
from strandline.tables.sources import select

NODE = synthetic_id("node", 1)
TEXT = render(synthetic(1, 9))
PLAN = ReadPlan(lines_min_bytes=1, split_bytes=512)


def scan_of(path: Path, content: bytes, plan: ReadPlan = PLAN, most: int = 10**6) -> FileScan:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    limits = ReadOptions({STRICT: "weak"}, StreamLimits(most, 100), RawLimits(10**6, 10))
    return FileScan(None, select([str(path)], most=1).files, limits, plan, dialect("sdmp").split_format)


@pytest.mark.parametrize("name", ["a/x", "a[1]/x", "a*/x", "{a,b}/x", "a b/x", "a/é", "a:b/x", "_a/.x"])
def test_a_text_journal_is_split_whatever_its_name(tmp_path: Path, name: str) -> None:
    scan = scan_of(tmp_path / name, TEXT)
    rows = [row for _, row in scan._task_rows(512)]
    ends = [*range(512, len(TEXT), 512), len(TEXT)]
    assert [(row["part"], row["until"]) for row in rows] == list(zip([0, *ends[:-1]], ends, strict=True))
    assert {row["label"] for row in rows} == {NODE}
    assert not scan.is_small


@pytest.mark.parametrize(
    ("content", "is_split"),
    [
        (TEXT, True),
        (b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n"), True),
        (b"no node\n" + TEXT, False),
        (TEXT[:400], False),
        (batch(NODE, NODE, list(synthetic(1, 9))) + b"\n", True),
        (batch(NODE, NODE, list(synthetic(1, 9)))[:-1], False),
    ],
)
def test_what_can_be_read_from_the_middle_is_split(tmp_path: Path, content: bytes, is_split: bool) -> None:
    scan = scan_of(tmp_path / "file", content)
    rows = [row for _, row in scan._task_rows(512)]
    assert (len(rows) > 1) == is_split == (not scan.is_small)
    if not is_split:
        assert [(row["part"], row["until"], row["label"]) for row in rows] == [(0, None, None)]


def test_a_file_of_just_the_least_size_is_split_and_one_of_just_a_split_or_the_small_size_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(TEXT)
    scan = scan_of(tmp_path / "file", TEXT, ReadPlan(lines_min_bytes=size, split_bytes=size))
    assert (len(list(scan._task_rows(size))), len(list(scan._task_rows(size - 1)))) == (1, 2)
    for small in (size, size - 1):
        monkeypatch.setattr("strandline.tables.file_scan.SMALL_BYTES", small)
        assert scan.is_small == (small == size)


def test_a_file_below_the_least_size_is_read_whole(tmp_path: Path) -> None:
    scan = scan_of(tmp_path / "file", TEXT, ReadPlan(lines_min_bytes=len(TEXT) + 1, split_bytes=512))
    assert len(list(scan._task_rows(512))) == 1
    assert scan.is_small


@pytest.mark.parametrize(("over", "is_split"), [(0, True), (1, False)])
def test_a_file_over_the_limit_of_a_stream_has_no_splits(tmp_path: Path, over: int, is_split: bool) -> None:
    scan = scan_of(tmp_path / "file", TEXT, most=len(TEXT) - over)
    rows = [(row["part"], row["until"]) for _, row in scan._task_rows(512)]
    assert (len(rows) > 1) == is_split
    assert is_split or rows == [(0, None)]


def test_the_driver_has_the_sources_of_files(tmp_path: Path) -> None:
    assert scan_of(tmp_path / "a file", TEXT).source_of() == {0: str(tmp_path / "a file")}

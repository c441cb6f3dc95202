"""Spark and the pure-Python reference give the same tables for random journals that come in splits of a few lines."""

from dataclasses import astuple, fields
from pathlib import Path

import pytest

from strandline.dialects.sdmp.spark import chunks
from strandline.tables import file_scan
from support.agreement import assert_admitted_equal, assert_reduced_equal
from support.lakes import counted, write_files
from support.random_journals import corpus
from support.reference import Counts, ReferenceLake

NAMES = [field.name for field in fields(Counts)]


CASES = [
    pytest.param(11, 40, 1, 900, 2, id="40 journals, splits of 900 bytes, chunks of 2 lines"),
    pytest.param(14, 12, 2, 512, 1, id="12 journals over runs, splits of 512 bytes", marks=pytest.mark.slow),
    pytest.param(19, 300, 2, 5000, 3, id="300 journals over runs, chunks of 3 lines", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("seed", "journals", "runs", "split_bytes", "lines"), CASES)
def test_spark_and_reference_agree_on_random_journals_over_runs(
    new_lake, tmp_path, monkeypatch, seed, journals, runs, split_bytes, lines
):
    # No input is small: what is known is looked for first.
    monkeypatch.setattr(file_scan, "SMALL_BYTES", -1)
    monkeypatch.setattr(chunks, "CHUNK_LINES", lines)
    lake = new_lake(read={"lines_min_bytes": 1, "split_bytes": split_bytes})
    reference, every = ReferenceLake(), {}
    for number, files in enumerate(corpus(seed, journals, runs)):
        counts = reference.ingest(files)
        report = lake.ingest(write_files(tmp_path / f"in{number}", files))
        assert counted(report, NAMES) == dict(zip(NAMES, astuple(counts), strict=True))
        assert_admitted_equal(lake, reference)
        lake.reduce()
        assert_reduced_equal(lake, reference)
        every |= {f"in{number}/{name}": content for name, content in files.items()}
    assert_named_by_their_places(lake, every, lines * 195)


def assert_named_by_their_places(lake, files, chunk_bytes):
    """The bytes of every row of a text file stand where the row says, in whichever split they were read."""
    rows = lake.rows("quarantine", "source", "source_offset", "raw")
    of_text = [row for row in rows if row[0].endswith(".journal")]
    # Some are behind the first chunk of their file.
    assert max(offset for _, offset, _ in of_text) > chunk_bytes
    for source, offset, raw in of_text:
        path = Path(source)
        content = files[f"{path.parent.name}/{path.name}"]
        assert content[offset : offset + len(raw)] == raw, (source, offset)

"""Spark and the pure-Python reference give the same tables for random journals that come in splits of a few lines."""

from dataclasses import astuple, fields
from pathlib import Path

import pytest

from strandline.tables import reading
from support.agreement import assert_admitted_equal, assert_reduced_equal
from support.lakes import counted, write_files
from support.random_journals import corpus
from support.reference import Counts, ReferenceLake

NAMES = [field.name for field in fields(Counts)]


SPLITS = {"read": {"lines_min_bytes": 1, "split_bytes": 512}}
CASES = [
    pytest.param(11, 6, 1, SPLITS, id="6 journals, splits of 512 bytes"),
    pytest.param(14, 12, 2, SPLITS, id="12 journals over runs, splits of 512 bytes", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("seed", "journals", "runs", "changed"), CASES)
def test_spark_and_reference_agree_on_random_journals_over_runs(
    new_lake, tmp_path, monkeypatch, seed, journals, runs, changed
):
    # No input is small: what is known is looked for first.
    monkeypatch.setattr(reading, "SMALL_BYTES", -1)
    lake, reference, every = new_lake(**changed), ReferenceLake(), {}
    for number, files in enumerate(corpus(seed, journals, runs)):
        counts = reference.ingest(files)
        report = lake.ingest(write_files(tmp_path / f"in{number}", files))
        assert counted(report, NAMES) == dict(zip(NAMES, astuple(counts), strict=True))
        assert_admitted_equal(lake, reference)
        lake.reduce()
        assert_reduced_equal(lake, reference)
        every |= {f"in{number}/{name}": content for name, content in files.items()}
    assert_named_by_their_places(lake, every)


def assert_named_by_their_places(lake, files):
    """The bytes of every row of a text file stand where the row says, in whichever split they were read."""
    rows = lake.rows("quarantine", "source", "source_offset", "raw")
    of_text = [row for row in rows if row[0].endswith(".journal")]
    # Some are not in the first split of their file.
    assert max(offset for _, offset, _ in of_text) > SPLITS["read"]["split_bytes"]
    for source, offset, raw in of_text:
        path = Path(source)
        content = files[f"{path.parent.name}/{path.name}"]
        assert content[offset : offset + len(raw)] == raw, (source, offset)

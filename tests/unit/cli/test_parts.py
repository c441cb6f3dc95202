"""Parts of reports for people."""

import io

import pytest
from rich.console import Console

from strandline.cli.show import parts
from strandline.pipelines.report import Report


@pytest.mark.parametrize(
    ("rejected", "words"),
    [([2, 1], "2 files with rejected records"), ([2, 0], "2 files with rejected records or faults")],
)
def test_a_file_without_a_rejected_record_is_one_with_a_fault(rejected, words):
    files = [
        {
            "source": f"{count}",
            "reasons": "BAD_JSON" if count else "INTERNAL_ERROR",
            "rejected": count,
            "position": 1,
        }
        for count in rejected
    ]
    members = {"damaged_files": files, "damaged_files_total": len(files)}
    report = Report("ingest", "r", "ok", 0, 0.0, 0.0, "lake", members=members)
    console = Console(file=io.StringIO(), width=200)
    parts.damaged_files(console, report)
    assert console.file.getvalue().splitlines()[0] == words

"""The report of `maintain`: what was done, or would be done, to each table."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from strandline.cli.show.parts import counts, head, next_commands
from strandline.cli.show.rows import table
from strandline.pipelines.report import Report

_COLUMNS = ("table", "small files", "buckets", "bytes", "removable files", "days kept", "kept for")


def maintain(console: Console, report: Report) -> None:
    """Print the counts and one line per table with something to do."""
    head(console, report)
    counts(console, report)
    found = report.members["maintenance"]
    if found:
        table(console, _COLUMNS, [_row(entry) for entry in found])
    else:
        console.print(Text("nothing to do"))
    for entry in found:
        if entry["sets_retention"]:
            console.print(Text(f"{entry['table']}: commits and removed files stay {entry['kept_days']} days"))
    if report.members["dry_run"]:
        console.print(Text("nothing was written: run without --dry-run to do it"))
    else:
        next_commands(console, ("strandline check",), report)


def _row(entry: Mapping[str, Any]) -> list[object]:
    small = entry["small_files"]
    return [
        entry["table"], small["files"], len(small["buckets"]), small["bytes"], entry["removable_files"],
        entry["kept_days"], entry["kept_for"],
    ]  # fmt: skip

"""The report of `status`: the health of namespaces as a table, and what is behind."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from rich.console import Console
from rich.text import Text

from strandline.cli.show.fit import fitted
from strandline.cli.show.parts import damaged_files, next_commands, stopped_writers
from strandline.cli.show.rows import table
from strandline.core.sentences import amount
from strandline.pipelines.report import Report

ROWS_OF_A_TABLE: Final = 10_000
"""Rows of one printed table, which shares its column widths; more rows are further tables."""

_STATUS = (
    "health", "namespace", "dialect", "records", "waiting", "rejected", "forks", "behind", "state_hash", "reducer",
    "reduced_at",
)  # fmt: skip
_SPARE = ("reducer", "reduced_at", "state_hash", "dialect", "behind", "forks")
"""Columns that are left out on a narrow terminal, in this order; --json has all."""


def status(console: Console, report: Report) -> None:
    """Print the health of namespaces, worst first, and the unreduced tables."""
    rows = report.members["rows"]
    every = iter(rows)
    # One table at a time, and at least one, which shows the header.
    block = list(islice(every, ROWS_OF_A_TABLE))
    while True:
        shown = [
            [
                row["health"], row["namespace"], row["dialect"], row["records"], row["waiting"], row["rejected"],
                row["forks"], row["behind"], (row["state_hash"] or "")[:12], row["reducer_version"],
                (row["reduced_at"] or "").replace("T", " ")[:19],
            ]
            for row in block
        ]  # fmt: skip
        columns: Sequence[str] = _STATUS
        if console.is_terminal:
            columns, shown = fitted(_STATUS, shown, console.width, named="namespace", spare=_SPARE)
        table(console, columns, shown)
        block = list(islice(every, ROWS_OF_A_TABLE))
        if not block:
            break
    tally = ", ".join(f"{count:,} {health}" for health, count in report.counts.items() if count) or "none"
    more = f"; {len(rows)} shown, --all shows all" if len(rows) < report.namespaces else ""
    console.print(Text(f"{amount(report.namespaces, 'namespace')}: {tally}{more}"))
    stopped_writers(console, report.members["stopped"])
    damaged_files(console, report)
    for one in report.members["unreduced"]:
        # 0 is what `init` writes of a table that it made anew.
        read = f"version {one['reduced_version']}" if one["reduced_version"] else "nothing of it"
        console.print(
            Text(
                f"unreduced: {one['table']} is at version {one['version']}, reduce has read {read}",
                style="yellow",
            )
        )
    if report.members["unreduced"]:
        next_commands(console, ("strandline reduce",), report)

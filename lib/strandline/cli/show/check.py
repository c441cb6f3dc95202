"""The report of `check`: which invariants hold, and the rows that break one."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from strandline.cli.show.parts import head
from strandline.cli.text import printable
from strandline.pipelines.report import Report

_TABLES_NAMED = 3
_CELL = 300


def check(console: Console, report: Report) -> None:
    """Print one line for each check, then the description and first rows of each broken one."""
    head(console, report)
    by_name: dict[str, list[dict[str, Any]]] = {}
    for entry in report.members["checks"]:
        by_name.setdefault(entry["check"], []).append(entry)
    for name, entries in by_name.items():
        holds = all(entry["holds"] for entry in entries)
        asked = [table for entry in entries if entry["holds"] is holds for table in entry["tables"]]
        verdict = Text("ok    ", style="green") if holds else Text("BROKEN", style="bold red")
        console.print(Text.assemble(verdict, f"  {name}  {_tables(asked)}"))
    for broken in report.members["broken"]:
        console.print(
            Text(f"\n{broken['check']} is broken in {', '.join(broken['tables'])}", style="bold red")
        )
        console.print(Text(f"  {broken['description']}"))
        for row in broken["rows"]:
            console.print(Text(f"  {_row(row)}"))
        if broken["more"]:
            console.print(Text("  and more rows"))
    console.print(Text(f"{report.counts['checks']:,} checks, {report.counts['broken']:,} broken"))


def _tables(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _TABLES_NAMED else f"{len(names)} tables"


def _row(row: Any) -> str:
    text = row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)
    return printable(text if len(text) <= _CELL else f"{text[:_CELL]}…")

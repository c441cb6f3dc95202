"""The report of `quarantine`: the reasons, or one complete record."""

import json
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from strandline.cli.show.parts import example, next_commands, reason
from strandline.cli.text import as_text, hex_dump, printable
from strandline.core.sentences import first_ones
from strandline.pipelines.report import Report

AWAITED_SHOWN = 20
"""An entry can wait for tens of thousands of others; --json has all."""
_DUMP_ROWS = 8
_TEXT_BYTES = 4096


def quarantine(console: Console, report: Report) -> None:
    """Print the reasons with examples, or one complete record."""
    if "record" in report.members:
        _record(console, report.members["record"])
        return
    counts = report.counts
    console.print(Text(f"{counts['rejected']:,} rejected, {counts['deferred']:,} waiting"))
    for entry in report.members["by_reason"]:
        reason(console, entry)
        console.print(Text(f"  example {example(entry['example'])}"))
    if report.members["by_reason"]:
        first = report.members["by_reason"][0]["example"]["quarantine_id"]
        next_commands(console, (f"strandline quarantine show {first[:12]}",), report)


def _record(console: Console, record: Mapping[str, Any]) -> None:
    for name in (
        "quarantine_id", "namespace", "dialect", "scope", "status", "record_id", "source", "source_offset",
        "first_seen", "last_seen", "times_seen", "first_run", "last_run", "rules_version", "raw_sha256",
    ):  # fmt: skip
        if record[name] is not None:
            console.print(Text(f"{name:<14} {printable(record[name])}"))
    for each in record["reasons"]:
        console.print(Text(f"\n{printable(each['code'])}", style="bold"))
        console.print(Text(f"  {each['meaning']}\n  what to do: {each['advice']}"))
    if record["waits_for"]:
        awaited = first_ones(record["waits_for"], AWAITED_SHOWN)
        console.print(Text(f"\nwaits for {printable(awaited)}"))
    if record["evidence"] is not None:
        console.print(Text("\nevidence", style="bold"))
        for line in json.dumps(record["evidence"], indent=2, ensure_ascii=False).split("\n"):
            console.print(Text(f"  {printable(line)}"))
    raw = bytes.fromhex(record["raw"])
    stored = "all" if record["raw_whole"] else f"the first {len(raw):,}"
    console.print(Text(f"\n{record['raw_bytes']:,} bytes, {stored} stored", style="bold"))
    cut = "…" if len(raw) > _TEXT_BYTES else ""
    console.print(Text(f"  {as_text(raw[:_TEXT_BYTES])}{cut}"))
    for line in hex_dump(raw, _DUMP_ROWS):
        console.print(Text(f"  {line}"))

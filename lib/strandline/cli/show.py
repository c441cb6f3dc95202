"""Reports for people, on standard output."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from strandline.cli.progress import error_console
from strandline.cli.text import aligned, as_text, csv_cell, hex_dump, printable
from strandline.pipelines.report import Report

REASONS_SHOWN = 10
_DUMP_ROWS = 8
_TEXT_BYTES = 4096
_STYLES = {"forked": "bold red", "behind": "red", "waiting": "yellow", "rejected": "yellow", "ok": "green"}
_STATUS = (
    "health", "namespace", "dialect", "records", "waiting", "rejected", "forks", "behind", "state_hash", "reducer",
    "reduced_at",
)  # fmt: skip


def table(console: Console, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table, header first; a first column of healths is coloured."""
    for at, line in enumerate(aligned(columns, rows)):
        first = line.split(" ", 1)[0]
        text = Text(line, style="bold" if at == 0 else "")
        if at and first in _STYLES:
            text.stylize(_STYLES[first], 0, len(first))
        console.print(text)


def init(console: Console, report: Report) -> None:
    """Print what was created, migrated or there already."""
    _head(console, report)
    for name in ("created", "migrated", "unchanged", "views"):
        values = report.members.get(name)
        if values:
            console.print(Text(f"{name}: {', '.join(printable(value) for value in values)}"))


def ingest(console: Console, report: Report) -> None:
    """Print counts, the most frequent reasons with an example and what to do, the next commands."""
    _head(console, report)
    _counts(console, report)
    _reasons(console, report)
    _next(
        console,
        ("strandline reduce", "strandline quarantine") if report.reasons else ("strandline reduce",),
        report,
    )


def reduce(console: Console, report: Report) -> None:
    """Print counts and what changed, the next command."""
    _head(console, report)
    _counts(console, report)
    for name, change in report.tables.items():
        console.print(Text(f"{name}: version {change.version}, {change.inserted:,} rows inserted"))
    for difference in report.members.get("differences", ()):
        console.print(Text(f"difference mended: {printable(_inline(difference))}", style="bold red"))
    _next(console, ("strandline status",), report)


def status(console: Console, report: Report) -> None:
    """Print the health of namespaces, worst first, and what is unreduced."""
    rows = report.members["rows"]
    shown = [
        [
            row["health"], row["namespace"], row["dialect"], row["records"], row["waiting"], row["rejected"],
            row["forks"], row["behind"], (row["state_hash"] or "")[:12], row["reducer_version"],
            (row["reduced_at"] or "").replace("T", " ")[:19],
        ]
        for row in rows
    ]  # fmt: skip
    table(console, _STATUS, shown)
    tally = ", ".join(f"{count:,} {health}" for health, count in report.counts.items() if count) or "none"
    more = f"; {len(rows)} shown, --all shows all" if len(rows) < report.namespaces else ""
    console.print(Text(f"{report.namespaces:,} namespaces: {tally}{more}"))
    for one in report.members["unreduced"]:
        seen = "nothing of it" if one["reduced_version"] is None else f"version {one['reduced_version']}"
        console.print(
            Text(
                f"unreduced: {one['table']} is at version {one['version']}, reduce has seen {seen}",
                style="yellow",
            )
        )
    if report.members["unreduced"]:
        _next(console, ("strandline reduce",), report)


def quarantine(console: Console, report: Report) -> None:
    """Print the reasons with examples, or one record whole."""
    if "record" in report.members:
        _record(console, report.members["record"])
        return
    counts = report.counts
    console.print(Text(f"{counts['rejected']:,} rejected, {counts['deferred']:,} waiting"))
    for entry in report.members["by_reason"]:
        _reason(console, entry)
        console.print(Text(f"  example {_example(entry['example'])}"))
    if report.members["by_reason"]:
        first = report.members["by_reason"][0]["example"]["quarantine_id"]
        _next(console, (f"strandline quarantine show {first[:12]}",), report)


def explain(console: Console, report: Report) -> None:
    """Print a reason code in words."""
    found = report.members
    console.print(
        Text(f"{found['code']}  ({found['severity']}; {', '.join(found['outcomes'])})", style="bold")
    )
    console.print(Text(found["meaning"]))
    console.print(Text(f"What to do: {found['advice']}"))
    console.print(Text(f"Dialects: {', '.join(found['dialects'])}"))
    if found["waits_for"]:
        console.print(Text(f"Waits for: {found['waits_for']}:…, and is admitted by itself when that comes"))
    if found["replay"]:
        console.print(
            Text("A later version of the rules may judge otherwise: `strandline ingest --from-quarantine`")
        )


def doctor(console: Console, report: Report) -> None:
    """Print each check; for a fault the line that mends it."""
    for check in report.members["checks"]:
        mark, style = ("ok", "green") if check["ok"] else ("FAULT", "bold red")
        console.print(Text.assemble((f"{mark:<6}", style), f"{check['name']}: {printable(check['found'])}"))
        if not check["ok"]:
            console.print(Text.assemble("      ", ("next: ", "bold"), printable(check["mend"])))


def demo(console: Console, report: Report) -> None:
    """Print the sections of the demo: a title, then lines, a table or both."""
    for section in report.members["sections"]:
        console.print(Text(f"\n{section['title']}", style="bold"))
        for line in section.get("lines", ()):
            console.print(Text(printable(line)))
        if "columns" in section:
            table(console, section["columns"], section["rows"])


def sql(console: Console, report: Report, form: str, out: Path | None) -> None:
    """Print the rows of a query in the form asked for, or where they were written."""
    rows = report.members.get("rows", ())
    if out is not None:
        console.print(Text(f"{report.counts.get('rows', len(rows)):,} rows in {printable(out)}"))
    elif form == "table":
        table(console, report.members["columns"], [[_inline(cell) for cell in row] for row in rows])
    else:
        _write(report, form, console.file)
    if report.members.get("truncated"):
        # On standard error, with --quiet too: it is no progress, and csv and json have no place for it.
        shown = f"only the first {len(rows):,} rows are given; --format parquet --out FILE gives all"
        error_console().print(Text(shown))


def write_rows(report: Report, form: str, out: Path) -> None:
    """Write the rows of a query as `form` to the file `out`."""
    with out.open("w", encoding="utf-8", newline="") as file:
        if form == "table":
            file.writelines(
                f"{line}\n" for line in aligned(report.members["columns"], report.members["rows"])
            )
        else:
            _write(report, form, file)


def _write(report: Report, form: str, file: TextIO | Any) -> None:
    columns, rows = report.members["columns"], report.members["rows"]
    if form == "json":
        for row in rows:
            file.write(
                json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=True, allow_nan=False) + "\n"
            )
        return
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([csv_cell(name) for name in columns])
    writer.writerows([[csv_cell(_inline(cell)) for cell in row] for row in rows])


def _inline(value: Any) -> Any:
    """Return a nested value as JSON text, any other as it is."""
    return (
        json.dumps(value, ensure_ascii=True, sort_keys=True)
        if isinstance(value, dict | list | tuple)
        else value
    )


def _head(console: Console, report: Report) -> None:
    console.print(Text(f"{report.command} {printable(report.lake)}, {report.seconds:.1f} s", style="bold"))


def _counts(console: Console, report: Report) -> None:
    counts = report.counts
    if "read" in counts:
        parts = " + ".join(
            f"{name} {counts.get(name, 0):,}" for name in ("new", "known", "rejected", "deferred")
        )
        console.print(Text(f"read {counts['read']:,} = {parts}"))
    rest = {
        name: n
        for name, n in counts.items()
        if name not in ("read", "new", "known", "rejected", "deferred") and n
    }
    if rest:
        console.print(Text(", ".join(f"{name} {count:,}" for name, count in rest.items())))
    if report.namespaces:
        console.print(Text(f"{report.namespaces:,} namespaces"))


def _reasons(console: Console, report: Report) -> None:
    from strandline.contracts.reasons import reasons

    known = reasons()
    examples = report.members.get("examples", {})
    for code, count in sorted(report.reasons.items(), key=lambda item: (-item[1], item[0]))[:REASONS_SHOWN]:
        words = known.get(code)
        entry = {"code": code, "count": count}
        _reason(console, entry | ({"meaning": words.meaning, "advice": words.advice} if words else {}))
        if code in examples:
            console.print(Text(f"  example {_example(examples[code])}"))


def _reason(console: Console, entry: Mapping[str, Any]) -> None:
    status = f"  {entry['status']}" if "status" in entry else ""
    console.print(Text.assemble((f"{entry['count']:>8,}  {printable(entry['code'])}{status}", "bold")))
    if "meaning" in entry:
        console.print(Text(f"  {entry['meaning']}"))
        console.print(Text(f"  what to do: {entry['advice']}"))


def _example(example: Mapping[str, Any]) -> str:
    parts = [printable(example["quarantine_id"])[:12]]
    if example.get("namespace"):
        parts.append(printable(example["namespace"]))
    if example.get("source"):
        parts.append(f"in {printable(example['source'])}, byte {example.get('source_offset') or 0}")
    return ", ".join(parts)


def _record(console: Console, record: Mapping[str, Any]) -> None:
    for name in (
        "quarantine_id", "namespace", "dialect", "scope", "status", "record_id", "source", "source_offset",
        "first_seen", "last_seen", "times_seen", "first_run", "last_run", "rules_version", "raw_sha256",
    ):  # fmt: skip
        if record[name] is not None:
            console.print(Text(f"{name:<14} {printable(record[name])}"))
    for reason in record["reasons"]:
        console.print(Text(f"\n{printable(reason['code'])}", style="bold"))
        console.print(Text(f"  {reason['meaning']}\n  what to do: {reason['advice']}"))
    if record["waits_for"]:
        console.print(Text(f"\nwaits for {', '.join(printable(one) for one in record['waits_for'])}"))
    if record["evidence"] is not None:
        console.print(Text("\nevidence", style="bold"))
        for line in json.dumps(record["evidence"], indent=2, ensure_ascii=False).splitlines():
            console.print(Text(f"  {printable(line)}"))
    raw = bytes.fromhex(record["raw"])
    kept = "all" if record["raw_whole"] else f"the first {len(raw):,}"
    console.print(Text(f"\n{record['raw_bytes']:,} bytes, {kept} kept", style="bold"))
    cut = "…" if len(raw) > _TEXT_BYTES else ""
    console.print(Text(f"  {as_text(raw[:_TEXT_BYTES])}{cut}"))
    for line in hex_dump(raw, _DUMP_ROWS):
        console.print(Text(f"  {line}"))


def _next(console: Console, commands: Sequence[str], report: Report) -> None:
    # The lake is named as the operator would have to: the default folder needs no option.
    from strandline.tables.location import DEFAULT_LAKE, Location

    where = "" if report.lake == Location.lake(DEFAULT_LAKE).describe() else f" --lake {report.lake}"
    if where and "/" not in str(report.lake):
        where = f" --schema {report.lake}"
    for command in commands:
        console.print(Text(f"next: {printable(command + where)}"))

"""The reports of single commands."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from rich.console import Console
from rich.text import Text

from strandline.cli.show.fit import fitted
from strandline.cli.show.parts import (
    counts,
    damaged_files,
    frequent_reasons,
    head,
    next_commands,
    stopped_writers,
)
from strandline.cli.show.rows import inline, table
from strandline.cli.text import printable
from strandline.pipelines.report import Report

ROWS_OF_A_TABLE: Final = 10_000
"""Rows whose columns are made as wide as their widest cell; more rows are more tables."""

_STATUS = (
    "health", "namespace", "dialect", "records", "waiting", "rejected", "forks", "behind", "state_hash", "reducer",
    "reduced_at",
)  # fmt: skip
_SPARE = ("reducer", "reduced_at", "state_hash", "dialect", "behind", "forks")
"""Columns that a narrow terminal does without, the first one first; --json has all."""


def init(console: Console, report: Report) -> None:
    """Print what was created, migrated or there already."""
    head(console, report)
    for name in ("created", "migrated", "unchanged", "views"):
        values = report.members.get(name)
        if values:
            console.print(Text(f"{name}: {', '.join(printable(value) for value in values)}"))


def ingest(console: Console, report: Report) -> None:
    """Print counts, the most frequent reasons with an example and what to do, the next commands."""
    head(console, report)
    counts(console, report)
    frequent_reasons(console, report)
    damaged_files(console, report)
    stopped_writers(console, report.members.get("stopped", {}))
    older = report.members.get("judged_by_older_rules", 0)
    if older:
        console.print(
            Text(
                f"{older:,} records of the quarantine were judged by older rules: "
                f"`strandline ingest --from-quarantine` judges them again",
                style="yellow",
            )
        )
    first = "strandline status" if report.command == "stream" else "strandline reduce"
    next_commands(console, (first, "strandline quarantine") if report.reasons else (first,), report)


def stream(console: Console, report: Report) -> None:
    """Print what came in all batches together, the most frequent reasons, the next commands."""
    ingest(console, report)
    console.print(Text(f"checkpoint: {printable(report.members['checkpoint'])}"))


def reduce(console: Console, report: Report) -> None:
    """Print counts and what changed, the next command."""
    head(console, report)
    counts(console, report)
    for name, change in report.tables.items():
        console.print(Text(f"{name}: version {change.version}, {change.inserted:,} rows inserted"))
    for difference in report.members.get("differences", ()):
        console.print(Text(f"difference mended: {printable(inline(difference))}", style="bold red"))
    if report.error is not None:
        console.print(Text(printable(f"{report.error.message} {report.error.next}"), style="bold red"))
    next_commands(console, ("strandline status",), report)


def sync(console: Console, report: Report) -> None:
    """Print what was written, asked or answered, and the writers that stopped."""
    head(console, report)
    counts(console, report)
    for name, told in report.members.get("refused_nodes", {}).items():
        console.print(Text(f"refused: {printable(name)} is no own node, {told:,} requests", style="yellow"))
    stopped_writers(console, report.members.get("stopped", {}))
    for member in ("requests_file", "answers_file"):
        if member in report.members:
            console.print(Text(f"written: {printable(report.members[member])}"))
    if "requests_file" in report.members:
        next_commands(console, ("strandline status",), report)


def sync_lakes(console: Console, report: Report) -> None:
    """Print what is missing, namespace by namespace, and what became of what came."""
    head(console, report)
    counts(console, report)
    plan = report.members["plan"]
    if plan:
        rows = [[row[name] for name in ("namespace", "dialect", "there", "here", "missing")] for row in plan]
        table(console, ("namespace", "dialect", "there", "here", "missing"), rows)
        if len(plan) < report.counts["behind"]:
            console.print(Text(f"{report.counts['behind']:,} namespaces lack records, {len(plan)} shown"))
    frequent_reasons(console, report)
    stopped_writers(console, report.members["stopped"])
    if report.error is not None:
        console.print(Text(printable(f"{report.error.message} {report.error.next}"), style="bold red"))
    if report.members["dry_run"]:
        console.print(Text("nothing was written: without --dry-run the missing records are brought"))
    else:
        next_commands(console, ("strandline status",), report)


def export(console: Console, report: Report) -> None:
    """Print what the file is, where it and its manifest are, and the set of each namespace."""
    found = report.members
    head(console, report)
    counts(console, report)
    for each in found["sets"]:
        console.print(
            Text(f"{printable(each['namespace'])}  {each['records']:,} records, set_hash {each['set_hash']}")
        )
    console.print(Text(f"written: {printable(found['out'])}, {found['form']}, {found['bytes']:,} bytes"))
    console.print(Text(f"written: {printable(found['manifest'])}"))


def unpack(console: Console, report: Report) -> None:
    """Print how many blocks were copied, and where to."""
    counts(console, report)
    found = report.members
    console.print(Text(f"written: {printable(found['out'])}, {found['bytes']:,} bytes"))
    for path in found["more"]:
        console.print(Text(f"more roots: {printable(path)}"))
    files = " ".join(printable(path) for path in (found["out"], *found["more"]))
    console.print(Text(f"next: strandline ingest {files} --dialect {found['dialect']}"))


def status(console: Console, report: Report) -> None:
    """Print the health of namespaces, worst first, and what is unreduced."""
    rows = report.members["rows"]
    every = iter(rows)
    # A table at a time, and at least one: its header says what there would be.
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
    console.print(Text(f"{report.namespaces:,} namespaces: {tally}{more}"))
    stopped_writers(console, report.members["stopped"])
    damaged_files(console, report)
    for one in report.members["unreduced"]:
        seen = "nothing of it" if one["reduced_version"] is None else f"version {one['reduced_version']}"
        console.print(
            Text(
                f"unreduced: {one['table']} is at version {one['version']}, reduce has seen {seen}",
                style="yellow",
            )
        )
    if report.members["unreduced"]:
        next_commands(console, ("strandline reduce",), report)


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
        # New rules come with a new version of the product: what waits for them is judged again on request.
        by_itself = "" if found["waits_for"] == "rules" else ", and is admitted by itself when that comes"
        console.print(Text(f"Waits for: {found['waits_for']}:…{by_itself}"))
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

"""The reports of single commands."""

import shlex
from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from strandline.cli.show.parts import (
    command_here,
    counts,
    damaged_files,
    frequent_reasons,
    head,
    next_commands,
    own_error,
    reduced_wrongly,
    stopped_writers,
)
from strandline.cli.show.rows import table
from strandline.cli.text import printable
from strandline.core.sentences import amount
from strandline.pipelines.report import Report


def init(console: Console, report: Report) -> None:
    """Print what was created, migrated or already there."""
    head(console, report)
    for name in ("created", "migrated", "unchanged", "views"):
        values = report.members.get(name)
        if values:
            console.print(Text(f"{name}: {', '.join(printable(value) for value in values)}"))


def repeated(console: Console, report: Report) -> None:
    """Print the counts of an earlier run with the id of this one."""
    head(console, report)
    counts(console, report)
    console.print(
        Text(f"the lake has the run {report.run_id} with exit code {report.exit}: nothing was done")
    )
    own_error(console, report)


def ingest(console: Console, report: Report, chosen: Mapping[str, str | None] | None = None) -> None:
    """Print counts, the most frequent reasons with an example and what to do, the next commands.

    `chosen` is what selects the records to judge again, by option.
    """
    head(console, report)
    counts(console, report)
    if report.members.get("replayed") == {}:
        asked = " and ".join(f"the {name} {printable(text)}" for name, text in (chosen or {}).items() if text)
        which = f"has {asked}" if asked else "is in quarantine"
        console.print(Text(f"nothing was judged again: no rejected record with all its bytes {which}"))
    frequent_reasons(console, report)
    damaged_files(console, report)
    stopped_writers(console, report.members.get("stopped", {}))
    older = report.members.get("judged_by_older_rules", 0)
    if older:
        again = command_here("strandline ingest --from-quarantine --dialect NAME", report)
        console.print(
            Text(
                f"older rules judged {amount(older, 'record')} in quarantine; judge again: `{again}`",
                style="yellow",
            )
        )
    first = "strandline status" if report.command == "stream" else "strandline reduce"
    next_commands(console, (first, "strandline quarantine") if report.reasons else (first,), report)


def stream(console: Console, report: Report) -> None:
    """Print the counts of all batches together, the most frequent reasons, the next commands."""
    ingest(console, report)
    reduced_wrongly(console, report)
    console.print(Text(f"checkpoint: {printable(report.members['checkpoint'])}"))


def reduce(console: Console, report: Report) -> None:
    """Print counts and what changed, the next command."""
    head(console, report)
    counts(console, report)
    for name, change in report.tables.items():
        console.print(Text(f"{name}: version {change.version}, {amount(change.inserted, 'row')} inserted"))
    reduced_wrongly(console, report)
    next_commands(console, ("strandline status",), report)


def export(console: Console, report: Report) -> None:
    """Print the set of each namespace, and the paths of the file and its manifest."""
    found = report.members
    head(console, report)
    counts(console, report)
    for each in found["sets"]:
        console.print(
            Text(
                f"{printable(each['namespace'])}  {amount(each['records'], 'record')}, set_hash {each['set_hash']}"
            )
        )
    console.print(Text(f"written: {printable(found['out'])}, {found['form']}, {found['bytes']:,} bytes"))
    console.print(Text(f"written: {printable(found['manifest'])}"))


def unpack(console: Console, report: Report) -> None:
    """Print how many blocks were copied, and the path of the file."""
    counts(console, report)
    found = report.members
    console.print(Text(f"written: {printable(found['out'])}, {found['bytes']:,} bytes"))
    for path in found["more"]:
        console.print(Text(f"more roots: {printable(path)}"))
    files = " ".join(printable(shlex.quote(path)) for path in (found["out"], *found["more"]))
    console.print(Text(f"next: strandline ingest {files} --dialect {found['dialect']}"))


def report(console: Console, report: Report) -> None:
    """Print what the page says first, and its path."""
    healths = ", ".join(f"{count:,} {name}" for name, count in report.counts.items() if count)
    console.print(Text(f"{amount(report.namespaces, 'namespace')}{': ' if healths else ''}{healths}"))
    console.print(Text(f"written: {printable(report.members['out'])}, {report.members['bytes']:,} bytes"))


def explain(console: Console, report: Report) -> None:
    """Print the explanation of a reason code."""
    found = report.members
    console.print(
        Text(f"{found['code']}  ({found['severity']}; {', '.join(found['outcomes'])})", style="bold")
    )
    console.print(Text(found["meaning"]))
    console.print(Text(f"What to do: {found['advice']}"))
    console.print(Text(f"Dialects: {', '.join(found['dialects'])}"))
    if found["waits_for"]:
        # A new version of the product brings new rules: records that wait for them are judged again on request.
        automatic = (
            "" if found["waits_for"] == "rules" else ", and is admitted automatically when that arrives"
        )
        console.print(Text(f"Waits for: {found['waits_for']}:…{automatic}"))
    if found["replay"]:
        console.print(
            Text(
                "A later version may judge it differently: run `strandline ingest --from-quarantine --dialect NAME` "
                "after an upgrade"
            )
        )


def doctor(console: Console, report: Report) -> None:
    """Print each check, and for a fault the next step."""
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

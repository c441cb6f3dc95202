"""The reports of `snapshot` and `gc`: what can go, what went, and what keeps the rest."""

from typing import Final

from rich.console import Console
from rich.text import Text

from strandline.cli.show.parts import command_here, counts, head, next_commands, of_named
from strandline.cli.show.rows import table
from strandline.cli.text import printable
from strandline.core.sentences import amount
from strandline.pipelines.report import Report

_COLUMNS: Final = ("namespace", "outcome", "reason", "pruned", "bytes", "stay")
SHOWN: Final = 20
_NO_ADVICE: Final = "Nothing to do"


def snapshot(console: Console, report: Report) -> None:
    """Print how many snapshots were taken, and what they cover."""
    head(console, report)
    counts(console, report)
    if report.counts["damaged"]:
        console.print(Text("changed snapshots were replaced: the new ones list all members", style="yellow"))
    next_commands(console, ("strandline gc --what-if",), report)


def gc(console: Console, report: Report) -> None:
    """Print what went from each namespace, and by rule how many records stay, with what the rule says.

    If nothing was deleted, also what would help.
    """
    from strandline.contracts.reasons import reasons

    known = reasons()
    head(console, report)
    counts(console, report)
    found = report.members["collections"]
    rows = [
        [
            printable(row["namespace"]), row["outcome"], row["reason"] or "", row["pruned"], row["bytes"],
            sum(row["holds"].values()),
        ]
        for row in found[:SHOWN]
    ]  # fmt: skip
    if rows:
        table(console, _COLUMNS, rows)
    if len(found) > SHOWN:
        more = command_here("strandline sql 'SELECT * FROM gc_report'", report)
        console.print(Text(f"more: {more}"))
    for dialect, holds in sorted(report.members["holds"].items()):
        for code, count in sorted(holds.items(), key=lambda item: (-item[1], item[0])):
            console.print(Text(f"{dialect}: kept {amount(count, 'record')}, {code}: {known[code].meaning}"))
            if report.members["what_if"] and not known[code].advice.startswith(_NO_ADVICE):
                console.print(Text(f"  what would help: {known[code].advice}"))
    places = report.members["differences"]
    for place in places:
        console.print(Text(f"differs without the pruned records: {printable(place)}", style="bold red"))
    if cut := of_named(len(places), report.members.get("differences_total", 0)):
        console.print(Text(f"differs without the pruned records: more places{cut}", style="bold red"))
    for reader in report.members["behind"]:
        place = f"{reader['table']} {reader['version']}, reduced to {reader['reduced_version']}"
        console.print(
            Text(f"no files were removed: {place}; {known['READER_BEHIND'].advice}", style="yellow")
        )
    if report.members["what_if"]:
        console.print(Text("nothing was deleted: run without --what-if to prune"))
    else:
        next_commands(console, ("strandline check",), report)

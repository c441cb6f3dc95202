"""Parts of several reports: header, counts, reasons, next commands."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from rich.console import Console
from rich.text import Text

from strandline.cli.text import printable
from strandline.core.sentences import amount
from strandline.pipelines.report import Report
from strandline.tables.location import DEFAULT_LAKE, Location, option_of

REASONS_SHOWN = 10
FILES_SHOWN = 5
WRITERS_SHOWN = 20
_TYPED = re.compile(
    r"`(strandline (?:check|export|gc|maintain|quarantine|reduce|report|snapshot|sql|status)\b"
    r"(?![^`]*--(?:lake|schema|help)\b)[^`]*)`"
)
"""A command on a lake that is there, which does not say on which one."""
_VERDICTS = ("new", "known", "rejected", "deferred")


def head(console: Console, report: Report) -> None:
    """Print the command, the lake and the seconds."""
    console.print(Text(f"{report.command} {printable(report.lake)}, {report.seconds:.1f} s", style="bold"))


def counts(console: Console, report: Report) -> None:
    """Print the records read by verdict, the other counts that are not 0, and the number of namespaces."""
    found = report.counts
    if "read" in found:
        parts = " + ".join(f"{name} {found.get(name, 0):,}" for name in _VERDICTS)
        console.print(Text(f"read {found['read']:,} = {parts}"))
    rest = {name: count for name, count in found.items() if name not in ("read", *_VERDICTS) and count}
    if rest:
        console.print(Text(", ".join(f"{name} {count:,}" for name, count in rest.items())))
    if report.namespaces:
        console.print(Text(amount(report.namespaces, "namespace")))


def frequent_reasons(console: Console, report: Report) -> None:
    """Print the most frequent reasons in words, each with an example."""
    from strandline.contracts.reasons import reasons

    known = reasons()
    examples = report.members.get("examples", {})
    for code, count in sorted(report.reasons.items(), key=lambda item: (-item[1], item[0]))[:REASONS_SHOWN]:
        words = known.get(code)
        entry = {"code": code, "count": count}
        reason(console, entry | ({"meaning": words.meaning, "advice": words.advice} if words else {}))
        if code in examples:
            console.print(Text(f"  example {example(examples[code])}"))
    if len(report.reasons) > REASONS_SHOWN:
        more = amount(len(report.reasons) - REASONS_SHOWN, "more reason")
        console.print(Text(f"  … and {more}: {command_here('strandline quarantine', report)}"))


def reduced_wrongly(console: Console, report: Report) -> None:
    """Print what a reduction found: repaired differences, damaged columns, the error of a run that ends with one."""
    for name, names in _found(report, "differences"):
        console.print(Text(f"difference repaired: {name} of {names}", style="bold red"))
    for name, names in _found(report, "damaged"):
        if name == "snapshot":
            console.print(
                Text(f"damaged: the applied snapshot of {names} is missing or changed", style="bold red")
            )
            console.print(Text(f"Restore the version of the table {name} that has it."))
            continue
        console.print(
            Text(f"damaged: columns of {name} do not follow from the records of {names}", style="bold red")
        )
        console.print(Text("They were not used. Restore the table to a version before the damage."))
    own_error(console, report)


def _found(report: Report, member: str) -> Iterator[tuple[str, str]]:
    """Yield each table of a member of the report with the namespaces that it names, and of how many they are."""
    totals = report.members.get(f"{member}_total", {})
    for table, names in report.members.get(member, {}).items():
        # A run that an older version recorded has no totals.
        yield table, printable(", ".join(names)) + of_named(len(names), totals.get(table, 0))


def of_named(named: int, total: int) -> str:
    """Return what is said behind a list of names if it is not complete."""
    return f" ({named:,} of {total:,} are named)" if named < total else ""


def own_error(console: Console, report: Report) -> None:
    """Print the error of a run that ended with one and has a report all the same."""
    if report.error is not None:
        console.print(Text(printable(f"{report.error.message} {report.error.next}"), style="bold red"))


def stopped_writers(console: Console, stopped: Mapping[str, Sequence[str]]) -> None:
    """Print the local nodes whose writers stopped, with the meaning of each reason."""
    from strandline.contracts.reasons import reasons

    known = reasons()
    for node, codes in islice(stopped.items(), WRITERS_SHOWN):
        console.print(Text(f"writer stopped: {printable(node)}  {', '.join(codes)}", style="bold red"))
        for code in codes:
            console.print(Text(f"  {known[code].meaning}"))
            console.print(Text(f"  what to do: {known[code].advice}"))
    if len(stopped) > WRITERS_SHOWN:
        console.print(Text(f"… and {amount(len(stopped) - WRITERS_SHOWN, 'more writer')}: --json has all"))


def damaged_files(console: Console, report: Report) -> None:
    """Print the number of files with rejected records, and for the first ones where each first breaks."""
    files, total = report.members.get("damaged_files", ()), report.members.get("damaged_files_total", 0)
    if not files:
        return
    # A file that met an internal fault may have no rejected record.
    found = "rejected records" if all(file["rejected"] for file in files) else "rejected records or faults"
    console.print(Text(f"{amount(total, 'file')} with {found}", style="yellow"))
    for file in files[:FILES_SHOWN]:
        record = f"record {file['position']}, " if "position" in file else ""
        place = f"{record}byte {file.get('source_offset') or 0}: {file['reasons']}"
        # A report of one dialect does not name it; of several, each that read the file has a line.
        read_by = f" as {file['dialect']}" if "dialect" in file else ""
        console.print(Text(f"  {printable(file['source'])}{read_by}, {place}, {file['rejected']:,} rejected"))
    if total > FILES_SHOWN:
        more = command_here("strandline sql 'SELECT * FROM damaged_source'", report)
        console.print(Text(f"  more: {more}"))


def reason(console: Console, entry: Mapping[str, Any]) -> None:
    """Print a reason code with its count, what it means and what to do."""
    status = f"  {entry['status']}" if "status" in entry else ""
    console.print(Text.assemble((f"{entry['count']:>8,}  {printable(entry['code'])}{status}", "bold")))
    if "meaning" in entry:
        console.print(Text(f"  {entry['meaning']}"))
        console.print(Text(f"  what to do: {entry['advice']}"))


def example(record: Mapping[str, Any]) -> str:
    """Return id, namespace and source of a record of the quarantine."""
    parts = [printable(record["quarantine_id"])[:12]]
    if record.get("namespace"):
        parts.append(printable(record["namespace"]))
    if record.get("source"):
        parts.append(f"in {printable(record['source'])}, byte {record.get('source_offset') or 0}")
    return ", ".join(parts)


def next_commands(console: Console, commands: Sequence[str], report: Report) -> None:
    """Print the next commands to run."""
    for command in commands:
        console.print(Text(f"next: {command_here(command, report)}"))


def command_here(command: str, report: Report) -> str:
    """Return a command with the option that names the lake of the report; the default folder needs none."""
    return printable(_on(command, str(report.lake)))


def commands_here(text: str, lake: str) -> str:
    """Return the text of a message; commands in it that read or change a lake that is there name this one."""
    return _TYPED.sub(lambda found: f"`{_on(found[1], lake)}`", text)


def _on(command: str, lake: str) -> str:
    is_default = lake == Location.lake(DEFAULT_LAKE).describe()
    return command if is_default else f"{command} {option_of(lake)}"

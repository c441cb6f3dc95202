"""Rows of a query or a table, on standard output or in a file."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.text import Text

from strandline.cli.progress import error_console
from strandline.cli.text import aligned, csv_cell, printable
from strandline.core.sentences import amount
from strandline.pipelines.report import Report

if TYPE_CHECKING:
    from strandline.tables.newfile import NewFile

_STYLES = {"forked": "bold red", "behind": "red", "waiting": "yellow", "rejected": "yellow", "ok": "green"}


def table(console: Console, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table, header first; a first column of healths is coloured."""
    for at, line in enumerate(aligned(columns, rows)):
        first = line.split(" ", 1)[0]
        text = Text(line, style="bold" if at == 0 else "")
        if at and first in _STYLES:
            text.stylize(_STYLES[first], 0, len(first))
        console.print(text)


def config(console: Console, report: Report) -> None:
    """Print the settings in use, then the options that dialects add to commands."""
    settings = report.members["settings"]
    table(
        console,
        ("setting", "value", "from"),
        [(key, each["value"], each["from"]) for key, each in settings.items()],
    )
    console.print()
    columns = ("option", "dialect", "commands", "holds_for")
    rows = [[option[name] for name in columns] for option in report.members["dialect_options"]]
    table(console, ("option", "dialect", "commands", "holds for"), rows)


def sql(console: Console, report: Report, form: str, out: Path | None) -> None:
    """Print the rows of a query in the requested format, or the path of the file."""
    rows = report.members.get("rows", ())
    if out is not None:
        console.print(Text(f"{amount(report.counts.get('rows', len(rows)), 'row')} in {printable(out)}"))
    elif form == "table":
        table(console, report.members["columns"], _inlined(rows))
    else:
        _write(report, form, console.file)
    if report.members.get("truncated"):
        # On standard error, with --quiet too: it is not progress, and csv and json have no place for it.
        shown = f"only the first {len(rows):,} rows are shown; --format parquet --out FILE writes all"
        error_console().print(Text(shown))


def write_rows(report: Report, form: str, out: Path) -> None:
    """Write the rows of a query as `form` to the file `out`. Raises: FaultError OUT_NOT_WRITABLE."""
    from strandline.tables.newfile import NewFile

    with NewFile(out) as file:
        text = _Utf8(file)
        if form == "table":
            for line in aligned(report.members["columns"], _inlined(report.members["rows"])):
                text.write(f"{line}\n")
        else:
            _write(report, form, text)
        file.publish()


class _Utf8:
    """Writes text to a binary file."""

    def __init__(self, file: "NewFile") -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode("utf-8"))


def inline(value: Any) -> Any:
    """Return a nested value as JSON text, any other value unchanged."""
    return (
        json.dumps(value, ensure_ascii=True, sort_keys=True)
        if isinstance(value, dict | list | tuple)
        else value
    )


def _inlined(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [[inline(cell) for cell in row] for row in rows]


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
    writer.writerows([csv_cell(cell) for cell in row] for row in _inlined(rows))

"""The command `sql`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.core.safe_files import open_file

_MAX_QUERY_BYTES = 1 << 20


class Format(StrEnum):
    """The output formats of `sql`."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "sql",
        panel="Query",
        examples=(
            "strandline sql 'SELECT * FROM namespace_health'",
            "strandline sql -f query.sql --format csv --out rows.csv",
            "strandline sql 'SELECT count(*) AS lines FROM node_journal_entry' --json",
        ),
    )(_sql)


def _sql(
    call: Invocation,
    query: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="One query over tables and views."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", metavar="FILE", help="File that contains the query.")
    ] = None,
    form: Annotated[
        Format,
        typer.Option("--format", metavar="NAME", help="Format of the rows: table, csv, json or parquet."),
    ] = Format.TABLE,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the rows to this file; required for parquet."),
    ] = None,
) -> Result:
    """Run one read-only query over tables and views."""
    if (query is None) == (file is None):
        raise UsageError(
            "QUERY_MISSING" if query is None else "QUERY_TWICE",
            "sql needs one query" if query is None else "QUERY and -f FILE were both given",
            "write `strandline sql 'SELECT * FROM namespace_health'`, or -f FILE",
        )
    if form is Format.PARQUET and out is None:
        raise UsageError("OUT_MISSING", "parquet cannot be printed on a terminal", "add --out FILE")
    if form is not Format.TABLE and out is None and call.options.as_json:
        raise UsageError(
            "FORMAT_AND_JSON", f"--json and --format {form} both set the output format", "give one of them"
        )
    text = query if query is not None else _query_of(file)
    if out is not None:
        from strandline.tables.newfile import check_place

        check_place(out)
    from strandline.pipelines import sql

    with call.progress() as progress:
        store = call.store(makes=False, writes=False)
        request = sql.SqlRequest(query=text, format=form.value, out=out)
        report = sql.run(store, request, call.context(progress))
    if out is not None and form is not Format.PARQUET:
        show.write_rows(report, form.value, out)
    return Result(report, lambda console: show.sql(console, report, form.value, out))


def _query_of(file: Path | None) -> str:
    """Return the query in `file`. Raises: UsageError `QUERY_FILE`."""
    assert file is not None
    try:
        with open_file(file) as stream:
            raw = stream.read(_MAX_QUERY_BYTES + 1)
        if len(raw) > _MAX_QUERY_BYTES:
            raise UsageError(
                "QUERY_FILE", f"the query file {file} is larger than 1 MiB", "give a file of one query"
            )
        return raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            "QUERY_FILE", f"the query file {file} cannot be read: {why}", "give a file of one query"
        ) from None

"""The read-only commands `status`, `sql`, `quarantine` and `explain`."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.core.nearest import did_you_mean
from strandline.core.safe_files import open_file

if TYPE_CHECKING:
    from strandline.tables.read_lake import ReadLake

_PANEL = "Look"
_MAX_QUERY_BYTES = 1 << 20


class Format(StrEnum):
    """The output formats of `sql`."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def add_to(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(
        app,
        "status",
        panel=_PANEL,
        examples=(
            "strandline status",
            "strandline status --lake /data/lake --all",
            "strandline status 7a5179ee demo-shop",
            "strandline status --check --json",
        ),
    )(_status)
    command(
        app,
        "sql",
        panel=_PANEL,
        examples=(
            "strandline sql 'SELECT * FROM namespace_health'",
            "strandline sql -f query.sql --format csv --out rows.csv",
            "strandline sql 'SELECT count(*) AS lines FROM node_journal_entry' --json",
        ),
    )(_sql)
    command(
        app,
        "quarantine",
        panel=_PANEL,
        examples=(
            "strandline quarantine",
            "strandline quarantine --lake /data/lake --json",
            "strandline quarantine show 99132fd4",
        ),
    )(_quarantine)
    command(
        app,
        "explain",
        panel=_PANEL,
        tables=False,
        examples=("strandline explain LINE_NUMBER_MISMATCH", "strandline explain predecessor_unknown --json"),
    )(_explain)


def _status(
    call: Invocation,
    namespaces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAMESPACE]...",
            help="A fingerprint or a log's id, with or without its kind (log:demo-shop); a unique prefix is enough.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all rows, not only the 50 worst.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Exit code 1 if a namespace is forked, waiting or behind, a writer stopped or a table is unreduced.",
        ),
    ] = False,
) -> Result:
    """Show the health of every namespace, worst first, and the tables that reduce has not read to the end."""
    from strandline.dialects import health_queries, record_tables
    from strandline.pipelines import status

    request = status.StatusRequest(tuple(namespaces or ()), every, check)
    with _reading(call) as lake:
        report = status.run(lake, record_tables(), request, call.context(), health_queries())
    return Result(report, lambda console: show.status(console, report))


def _sql(
    call: Invocation,
    query: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="One query over tables and views.", show_default=False),
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
    from strandline.pipelines import sql

    with call.progress() as progress:
        store = call.store(makes=False)
        request = sql.SqlRequest(query=text, format=form.value, out=out)
        report = sql.run(store, request, call.context(progress))
    if out is not None and form is not Format.PARQUET:
        show.write_rows(report, form.value, out)
    return Result(report, lambda console: show.sql(console, report, form.value, out))


def _quarantine(
    call: Invocation,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[list | show ID]",
            help="`list` (default) shows all by reason, `show ID` one record.",
            show_default=False,
        ),
    ] = None,
) -> Result:
    """Show rejected and waiting records by reason, with an example each, or one record with its bytes and evidence."""
    from strandline.pipelines import quarantine

    action, *rest = words or ["list"]
    if action not in ("list", "show"):
        raise UsageError(
            "COMMAND_UNKNOWN",
            f"strandline quarantine has no command {action}",
            did_you_mean(action, ("list", "show")),
        )
    if len(rest) != (action == "show"):
        raise UsageError(
            "USAGE",
            f"strandline quarantine {action} got {len(rest)} ids",
            "`strandline quarantine show ID` takes one id",
        )
    if action == "show":
        quarantine.id_range(rest[0])
    with _reading(call) as lake:
        if action == "list":
            report = quarantine.listing(lake, call.context())
        else:
            report = quarantine.show(lake, rest[0], call.context())
    return Result(report, lambda console: show.quarantine(console, report))


@contextmanager
def _reading(call: Invocation) -> "Iterator[ReadLake]":
    """Give the tables to read: through delta-rs if it can open them, else through Spark."""
    from strandline.tables.delta_rs import opens_without_spark

    if opens_without_spark(call.location):
        lake = call.delta_rs()
        if not lake.has_deletion_vectors:
            yield lake
            return
    with call.progress():
        from strandline.tables.read_lake import SparkLake

        yield SparkLake(call.store(makes=False))


def _explain(
    call: Invocation,
    code: Annotated[str, typer.Argument(metavar="CODE", help="A reason code, in upper or lower case.")],
) -> Result:
    """Explain a reason code: what it means, its source and what to do."""
    from strandline.pipelines import explain

    report = explain.run(code, call.context())
    return Result(report, lambda console: show.explain(console, report))


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

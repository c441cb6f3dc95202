"""All commands, in groups by task."""

import functools
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer
import typer.core
from typer.main import get_group

from strandline.cli.commands import (
    check,
    checkpoint,
    config,
    demo,
    doctor,
    explain,
    export,
    gc,
    ingest,
    init,
    maintain,
    prove,
    quarantine,
    reduce,
    report,
    snapshot,
    sql,
    status,
    stream,
    sync,
    unpack,
)
from strandline.cli.help import GroupHelp

app = typer.Typer(
    name="strandline",
    cls=GroupHelp,
    help="Verifies append-only journals of many writers and merges the genuine records into Delta tables. The accepted "
    "records of a journal reduce to one state. Exit codes: 0 done, 1 done and found a problem, 2 wrong usage, 3 fault, "
    "129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    demo, doctor, init, config, ingest, reduce, stream, sync, unpack, snapshot, gc, maintain, status, report, sql,
    quarantine, explain, export, check, checkpoint, prove,
):  # fmt: skip
    module.add_to(app)


@functools.cache
def commands() -> typer.core.TyperGroup:
    """Return the parser of all commands; typer alone would build it again for each call."""
    return get_group(app)


def command_names() -> tuple[str, ...]:
    """Return the names of all commands."""
    return tuple(info.name for info in app.registered_commands if info.name)


def _print_version(wanted: bool) -> None:
    """Print the versions of Strandline and what it runs on; starts no JVM."""
    if not wanted:
        return
    from strandline.session.java import java_version

    for name, value in (
        ("Strandline", version("strandline")),
        ("Spark", _installed("pyspark")),
        ("Delta", _installed("delta-spark")),
        ("Java", java_version(os.environ) or "not found"),
        ("Python", platform.python_version()),
    ):
        typer.echo(f"{name} {value}")
    raise typer.Exit


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@app.callback()
def _shared(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the versions and exit."
        ),
    ] = False,
) -> None:
    pass

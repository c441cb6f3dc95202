"""The command `status`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.cli.lake_reader import open_for_reading
from strandline.dialects import health_queries, record_tables


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "status",
        panel="Query",
        examples=(
            "strandline status",
            "strandline status --lake /data/lake --all",
            "strandline status 7a5179ee demo-shop",
            "strandline status --check --json",
        ),
    )(_status)


def _status(
    call: Invocation,
    namespaces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAMESPACE]...",
            help="A fingerprint or a log's id, with or without its kind (log:demo-shop); a unique prefix is enough.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all rows, not only the 50 worst.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Exit code 1 if a namespace is forked, waiting or behind, a journal writer stopped, or `reduce` has "
            "not read a table to the end.",
        ),
    ] = False,
) -> Result:
    """Show the health of every namespace, worst first, and the tables that reduce has not read to the end."""
    from strandline.pipelines import status

    request = status.StatusRequest(tuple(namespaces or ()), every, check)
    with open_for_reading(call) as lake:
        report = status.run(lake, record_tables(), request, call.context(), health_queries())
    return Result(report, lambda console: show.status(console, report))

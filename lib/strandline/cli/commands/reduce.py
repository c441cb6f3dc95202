"""The command `reduce`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.dialect_options import read_dialect_options
from strandline.cli.invocation import Invocation
from strandline.dialects import every, names


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "reduce",
        panel="Load",
        recorded=True,
        examples=(
            "strandline reduce",
            "strandline reduce --full --lake /data/lake",
            "strandline reduce --nodes nodes.json",
            "strandline reduce --log-config logs.json",
            "strandline reduce --json",
        ),
    )(_reduce)


def _reduce(
    call: Invocation,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Reduce everything again; report and repair each difference, exit code 1."
        ),
    ] = False,
) -> Result:
    """Update the reduced tables from the record tables."""
    from strandline.pipelines import reduce
    from strandline.pipelines.reduce_request import ReduceRequest

    options = read_dialect_options(call, names())
    with call.progress() as progress:
        store = call.store()
        request = ReduceRequest(
            full=full,
            files=options.files,
            walk_entries=call.settings.limits.walk_entries,
            options=options.parsed,
        )
        report = reduce.run(store, every(), request, call.settings, call.context(progress))
    return Result(report, lambda console: show.reduce(console, report))

"""The command `init`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "init",
        panel="Start",
        recorded=True,
        examples=(
            "strandline init",
            "strandline init --lake /data/lake --buckets 64 --strict",
            "strandline init --schema main.strandline",
            "strandline init --ipfslog-profile compat",
        ),
    )(_init)


def _init(
    call: Invocation,
    buckets: Annotated[
        int | None,
        typer.Option(
            "--buckets",
            metavar="N",
            min=1,
            max=65_536,
            help="Number of partitions of every table of a new lake.",
        ),
    ] = None,
) -> Result:
    """Create the missing tables and views, and print what was done.

    Options that decide verdicts are fixed when a lake is created: another value is refused, exit code 2.
    """
    from strandline.pipelines import init

    options = init.InitOptions(
        buckets=buckets,
        dialect_options={name: texts[0] for name, texts in call.options.of_dialects.items()},
        default_buckets=call.settings.tables.buckets,
        deletion_vectors=call.settings.tables.deletion_vectors,
    )
    with call.progress() as progress:
        report = init.run(call.store(), options, call.context(progress))
    return Result(report, lambda console: show.init(console, report))

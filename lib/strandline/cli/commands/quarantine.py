"""The command `quarantine`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.cli.lake_reader import open_for_reading
from strandline.core.errors import UsageError
from strandline.core.nearest import did_you_mean


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "quarantine",
        panel="Query",
        examples=(
            "strandline quarantine",
            "strandline quarantine --lake /data/lake --json",
            "strandline quarantine show 99132fd4",
        ),
    )(_quarantine)


def _quarantine(
    call: Invocation,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[list | show ID]",
            help="`list` (default) shows all by reason, `show ID` one record.",
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
            f"to show one record: `strandline quarantine show {action}`"
            if quarantine.is_id(action)
            else did_you_mean(action, ("list", "show")),
        )
    if len(rest) != (action == "show"):
        raise UsageError(
            "USAGE",
            f"strandline quarantine {action} got {len(rest)} ids",
            "`strandline quarantine show ID` takes one id",
        )
    if action == "show":
        quarantine.id_range(rest[0])
    with open_for_reading(call) as lake:
        if action == "list":
            report = quarantine.listing(lake, call.context())
        else:
            report = quarantine.show(lake, rest[0], call.context())
    return Result(report, lambda console: show.quarantine(console, report))

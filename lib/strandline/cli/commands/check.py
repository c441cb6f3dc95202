"""The command `check`."""

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "check",
        panel="Verify",
        examples=(
            "strandline check",
            "strandline check --lake /data/lake --json   (exit code 1: an invariant is broken)",
        ),
    )(_check)


def _check(call: Invocation) -> Result:
    """Check every invariant of the tables and show the rows that break one. Changes nothing.

    Run it while no other command writes: an unfinished run can look like a broken invariant. After a run that was
    killed, the next `ingest` or `reduce` completes its work.
    """
    from strandline.pipelines import check

    with call.progress() as progress:
        report = check.run(call.store(writes=False), call.context(progress))
    return Result(report, lambda console: show.check(console, report))

"""The command `doctor`."""

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "doctor",
        panel="Start",
        examples=("strandline doctor", "strandline doctor --lake /data/lake --json"),
    )(_doctor)


def _doctor(call: Invocation) -> Result:
    """Check Java, Spark, the Delta jar, Arrow and write access; show the next step for each fault."""
    from strandline.pipelines import doctor

    with call.progress() as progress:
        report = doctor.run(call.settings, call.location, call.environ, call.session, call.context(progress))
    return Result(report, lambda console: show.doctor(console, report))

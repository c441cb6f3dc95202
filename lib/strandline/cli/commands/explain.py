"""The command `explain`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "explain",
        panel="Query",
        tables=False,
        examples=("strandline explain LINE_NUMBER_MISMATCH", "strandline explain predecessor_unknown --json"),
    )(_explain)


def _explain(
    call: Invocation,
    code: Annotated[str, typer.Argument(metavar="CODE", help="A reason code, in upper or lower case.")],
) -> Result:
    """Explain a reason code: what it means, its source and what to do."""
    from strandline.pipelines import explain

    report = explain.run(code, call.context())
    return Result(report, lambda console: show.explain(console, report))

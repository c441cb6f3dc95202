"""The command `snapshot`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.given import known_dialect
from strandline.cli.invocation import Invocation
from strandline.core.pruning import DEFAULT_SKIP_WINDOW, MAX_SKIP_WINDOW
from strandline.dialects import every

Namespaces = Annotated[
    list[str] | None,
    typer.Option("--namespace", metavar="NAME", help="Only this namespace; can be repeated."),
]
Dialects = Annotated[
    list[str] | None,
    typer.Option("--dialect", metavar="NAME", help="Only this dialect; can be repeated."),
]
SkipWindow = Annotated[
    int | None,
    typer.Option(
        "--skip-window",
        metavar="W",
        min=0,
        max=MAX_SKIP_WINDOW,
        help=f"The newest 2.5 times W records of an order stay. W is {DEFAULT_SKIP_WINDOW} if not given.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "snapshot",
        panel="Keep small",
        recorded=True,
        examples=(
            "strandline snapshot",
            "strandline snapshot --namespace demo-shop --skip-window 64",
            "strandline snapshot --schema main.strandline --json",
        ),
    )(_snapshot)


def _snapshot(
    call: Invocation, namespace: Namespaces = None, dialect: Dialects = None, skip_window: SkipWindow = None
) -> Result:
    """State what namespaces reduce to, which records that covers, and which of them can be pruned. Deletes nothing.

    `gc` applies the newest snapshot of a namespace if it is still right, else it takes a new one.
    """
    from strandline.pipelines import snapshot
    from strandline.pipelines.prune_plans import PruneRequest

    request = PruneRequest(
        skip_window=DEFAULT_SKIP_WINDOW if skip_window is None else skip_window,
        dialects=tuple(known_dialect(name, "snapshot") for name in dialect or ()),
        namespaces=tuple(namespace or ()),
        walk_entries=call.settings.limits.walk_entries,
    )
    with call.progress() as progress:
        report = snapshot.run(call.store(makes=False), every(), request, call.context(progress))
    return Result(report, lambda console: show.snapshot(console, report))

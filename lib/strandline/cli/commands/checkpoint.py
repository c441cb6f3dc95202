"""The command `checkpoint`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.commands.snapshot import Dialects, Namespaces
from strandline.cli.given import known_dialect
from strandline.cli.invocation import Invocation
from strandline.cli.signing import signer_of
from strandline.dialects import every as every_dialect

Origin = Annotated[
    str | None,
    typer.Option(
        "--origin",
        metavar="NAME",
        help="Sign with this name and the key in STRANDLINE_CHECKPOINT_KEY, 32 bytes in hex.",
    ),
]
Every = Annotated[
    bool,
    typer.Option("--all", help="Compare also the trees of namespaces whose number of records is unchanged."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "checkpoint",
        panel="Verify",
        recorded=True,
        examples=(
            "strandline checkpoint",
            "strandline checkpoint --origin example.org/strandline",
            "strandline checkpoint --namespace demo-shop --all --json",
        ),
    )(_checkpoint)


def _checkpoint(
    call: Invocation,
    origin: Origin = None,
    namespace: Namespaces = None,
    dialect: Dialects = None,
    every: Every = False,
) -> Result:
    """State which records each namespace has, as the signed root of a Merkle tree that only grows.

    A kept note shows later that no record was changed or removed; `prove` writes the files for it. Before a tree
    grows, its leaves, its records and its note are compared; a namespace where they differ gets no checkpoint, exit
    code 1.
    """
    signer = signer_of(call.environ, origin)
    dialects = tuple(known_dialect(name, "checkpoint") for name in dialect or ())
    from strandline.pipelines import checkpoint
    from strandline.pipelines.checkpoint_request import CheckpointRequest

    request = CheckpointRequest(dialects, tuple(namespace or ()), signer, every)
    with call.progress() as progress:
        report = checkpoint.run(call.store(makes=False), every_dialect(), request, call.context(progress))
    return Result(report, lambda console: show.checkpoint(console, report))

"""The command `gc`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.commands.snapshot import Dialects, Namespaces, SkipWindow
from strandline.cli.erasing import erasures
from strandline.cli.given import known_dialect
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.core.pruning import DEFAULT_SKIP_WINDOW
from strandline.dialects import every

WhatIf = Annotated[
    bool, typer.Option("--what-if", help="Plan and prove, and say what would go; nothing is deleted.")
]
Excluded = Annotated[
    list[str] | None,
    typer.Option(
        "--except",
        metavar="NAME",
        help="A namespace that stays whole; can be repeated.",
    ),
]
MinPrunable = Annotated[
    int | None,
    typer.Option(
        "--min-prunable",
        metavar="N",
        min=1,
        max=2**62,
        help="Skip namespaces with fewer than N prunable records.",
    ),
]
Erase = Annotated[
    list[str] | None,
    typer.Option(
        "--erase",
        metavar="DIALECT[:DAYS]",
        help="Erase the bodies of entries; the entries stay. With DAYS only of entries that claim to be older.",
    ),
]
Now = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help="Time in UTC that DAYS count from, ISO 8601."),
]
Archive = Annotated[
    Path | None,
    typer.Option(
        "--archive",
        metavar="DIR",
        help="Write each node journal as its exact text to this folder.",
    ),
]
Compact = Annotated[
    bool,
    typer.Option(
        "--compact", help="After the collection, compact the record tables, sorted by namespace and order."
    ),
]
Vacuum = Annotated[
    int | None,
    typer.Option(
        "--vacuum",
        metavar="HOURS",
        help="After the collection, remove files that no version of the last HOURS hours needs.",
    ),
]
ForceVacuum = Annotated[
    bool, typer.Option("--force-vacuum", help="Allow less than 168 hours: nothing else may use the lake.")
]


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "gc",
        panel="Keep small",
        recorded=True,
        examples=(
            "strandline gc --what-if",
            "strandline gc --except demo-shop --min-prunable 1000",
            "strandline gc --skip-window 64 --schema main.strandline --json",
            "strandline gc --erase devicelog:365 --now 2026-11-25T00:00:00Z",
            "strandline gc --archive journals --compact --vacuum 168",
        ),
    )(_gc)


def _gc(
    call: Invocation,
    what_if: WhatIf = False,
    namespace: Namespaces = None,
    dialect: Dialects = None,
    excluded: Excluded = None,
    skip_window: SkipWindow = None,
    min_prunable: MinPrunable = None,
    erase: Erase = None,
    now: Now = None,
    archive: Archive = None,
    compact: Compact = False,
    vacuum: Vacuum = None,
    force_vacuum: ForceVacuum = False,
) -> Result:
    """Remove records that decide nothing any more from the record tables.

    Before anything is deleted, two full reductions, with and without these records, must give the same rows and state
    hash. What was removed is remembered by id: a late copy is known and does not count again.
    """
    from strandline.pipelines import gc
    from strandline.pipelines.archive import check_dialects
    from strandline.pipelines.gc_upkeep import Upkeep

    _check_what_if(
        what_if, {"--archive": archive is not None, "--compact": compact, "--vacuum": vacuum is not None}
    )
    chosen = tuple(known_dialect(name, "gc") for name in dialect or ())
    request = gc.GcRequest(
        skip_window=DEFAULT_SKIP_WINDOW if skip_window is None else skip_window,
        dialects=chosen,
        namespaces=tuple(namespace or ()),
        excluded=tuple(excluded or ()),
        walk_entries=call.settings.limits.walk_entries,
        min_prunable=1 if min_prunable is None else min_prunable,
        what_if=what_if,
        erase=erasures(erase or (), now, chosen),
        archive=archive,
        upkeep=Upkeep(call.settings.maintain.target_bytes if compact else None, vacuum, force_vacuum),
    )
    dialects = every()
    if archive is not None:
        check_dialects(dialects, chosen)
    with call.progress() as progress:
        report = gc.run(call.store(makes=False), dialects, request, call.context(progress))
    return Result(report, lambda console: show.gc(console, report))


def _check_what_if(what_if: bool, writing: Mapping[str, bool]) -> None:
    """Check that a call which writes nothing asks for no writing. Raises: UsageError OPTION_ALONE."""
    for option, is_given in writing.items():
        if what_if and is_given:
            raise UsageError(
                "OPTION_ALONE",
                f"--what-if writes and removes nothing, so {option} has no effect with it.",
                f"To do it, leave out --what-if; else leave out {option}.",
            )

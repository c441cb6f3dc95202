"""The command `maintain`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.dialects import every


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "maintain",
        panel="Keep small",
        recorded=True,
        examples=(
            "strandline maintain --dry-run",
            "strandline maintain",
            "strandline maintain --keep-days 90 --schema main.strandline --json",
        ),
    )(_maintain)


def _maintain(
    call: Invocation,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done and write nothing.")
    ] = False,
    keep_days: Annotated[
        int | None,
        typer.Option(
            "--keep-days", metavar="N", min=7, max=36_500, help="Days for which old versions stay readable."
        ),
    ] = None,
) -> Result:
    """Compact small files and remove files that only old versions need. Changes no row.

    Old versions stay for `maintain.keep_days` days (30 unless set), and longer if the next `reduce` or `export --as-of`
    of the newest run needs them. Other commands can run at the same time.
    """
    from strandline.pipelines import maintain

    chosen = call.settings.maintain
    request = maintain.MaintainRequest(
        keep_days=chosen.keep_days if keep_days is None else keep_days,
        small_files=chosen.small_files,
        small_bytes=chosen.small_bytes,
        target_bytes=chosen.target_bytes,
        dry_run=dry_run,
    )
    with call.progress() as progress:
        report = maintain.run(call.store(makes=False), every(), request, call.context(progress))
    return Result(report, lambda console: show.maintain(console, report))

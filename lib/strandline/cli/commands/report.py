"""The command `report`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.cli.lake_reader import open_for_reading
from strandline.dialects import drawings, health_queries, record_tables


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "report",
        panel="Query",
        examples=(
            "strandline report --out fleet.html",
            "strandline report --lake /data/lake --out fleet.html",
        ),
    )(_report)


def _report(
    call: Invocation,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE.html",
            help="The file to write; an earlier report is replaced.",
        ),
    ],
) -> Result:
    """Write one HTML page about the lake: health, reasons, forks and DAGs, who waits, ingest over time.

    The page needs no network. If FILE is an earlier report, the page also says what changed since then. Needs the
    packages of the extra [report].
    """
    from strandline.cli import page
    from strandline.pipelines import fleet
    from strandline.tables.newfile import NewFile

    path = out.absolute()
    before = page.before_of(path)
    with open_for_reading(call) as lake:
        report = fleet.run(lake, record_tables(), health_queries(), drawings(), before, call.context())
    with NewFile(path) as file:
        file.write(page.render(report).encode("utf-8", errors="backslashreplace"))
        written = file.publish()
    report = replace(report, members={"out": str(path), "bytes": written.bytes, **report.members})
    return Result(report, lambda console: show.report(console, report))

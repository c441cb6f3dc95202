"""The command `export`."""

from pathlib import Path
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.given import by_dialect
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.dialects import dialect, infos, names


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "export",
        panel="Query",
        examples=(
            "strandline export 7a5179ee --out mine.journal",
            "strandline export demo-shop example-log --out logs.car --lake demo-lake",
            "strandline export authority:d21eb924-5a21-bff8-b6f5-465be2308d99 --out facts.cbor",
            "strandline export demo-shop --out then.car --as-of 20260131T093000Z-0123456789ab",
        ),
    )(_export)


def _export(
    call: Invocation,
    namespaces: Annotated[
        list[str],
        typer.Argument(
            metavar="NAMESPACE...",
            help="A fingerprint or a log's id, with or without its kind (log:demo-shop); a unique prefix is enough.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")],
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="RUN",
            help="Write the records that this earlier run read, not the current ones.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Format of the file, if its name does not show it;"
            f" {by_dialect(lambda info: info.written_formats)}.",
        ),
    ] = None,
) -> Result:
    """Write accepted records to one file that ingest reads, in their own format, with a delivery manifest.

    One journal without a fork is written as its text, other journals as frames, logs as a CAR with identities and
    database manifests, facts of Aura as lines of JSON, a journal document or a CBOR sequence, device logs as lines of
    JSON. Ingested into an empty lake, the file gives the same sets of records.
    """
    _check_format(form)
    from strandline.pipelines import export

    request = export.ExportRequest(tuple(dict.fromkeys(namespaces)), out.absolute(), as_of, form)
    with call.progress() as progress:
        store, context = call.store(makes=False, writes=False), call.context(progress)
        report = export.run(store, {name: dialect(name) for name in names()}, request, context)
    return Result(report, lambda console: show.export(console, report))


def _check_format(form: str | None) -> None:
    """Check that a dialect writes the format, None without one. Raises: UsageError FORMAT_UNKNOWN."""
    written = dict.fromkeys(each for info in infos().values() for each in info.written_formats)
    if form is not None and form not in written:
        raise UsageError(
            "FORMAT_UNKNOWN",
            f"no dialect writes the format {form}",
            f"name one of {', '.join(written)}, or leave --format out",
        )

"""Commands that write files to carry on: export, unpack."""

from pathlib import Path
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation


def add_to(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(
        app,
        "export",
        panel="Look",
        examples=(
            "strandline export 7a5179ee --out mine.journal",
            "strandline export demo-shop example-log --out logs.car --lake demo-lake",
            "strandline export demo-shop --out then.car --as-of 20260131T093000Z-0123456789ab",
        ),
    )(_export)
    command(
        app,
        "unpack",
        panel="Bring in",
        tables=False,
        examples=(
            "strandline unpack ~/.ipfs/blocks --out node.car",
            "strandline unpack orbitdb/ --out orbitdb.car",
        ),
    )(_unpack)


def _export(
    call: Invocation,
    namespaces: Annotated[
        list[str],
        typer.Argument(
            metavar="NAMESPACE...",
            help="A fingerprint or a log's id, or either with its kind, as log:demo-shop; its first part will do.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The new file.", show_default=False)],
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="RUN", help="Write what this earlier run read, not what is held now."
        ),
    ] = None,
) -> Result:
    """Write accepted records to one file that ingest reads, in their own form, with a manifest beside it.

    One journal without a fork comes as its text, else frames are written; logs come as a CAR with identities and
    manifests. In an empty lake the file gives the same sets.
    """
    from strandline.pipelines import export

    request = export.ExportRequest(tuple(dict.fromkeys(namespaces)), out.absolute(), as_of)
    with call.progress() as progress:
        store, context = call.store(makes=False), call.context(progress)
        from strandline.dialects import dialect, names

        report = export.run(store, {name: dialect(name) for name in names()}, request, context)
    return Result(report, lambda console: show.export(console, report))


def _unpack(
    call: Invocation,
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder in which a node keeps its blocks.", show_default=False),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.car", help="The new file.", show_default=False)],
) -> Result:
    """Copy the blocks that a node keeps in a folder to one CAR file for ingest; the folder is only read.

    File stores (blockstore-fs, Kubo's flatfs) and LevelDB (blockstore-level, @orbitdb/core), whatever lies below DIR.
    LevelDB needs the packages of the extra [leveldb]. Nothing is judged, and no JVM is started.
    """
    from strandline.dialects import unpackings
    from strandline.pipelines import unpack

    with call.progress() as progress:
        request = unpack.UnpackRequest(folder.absolute(), out.absolute())
        report = unpack.run(unpackings(), request, call.context(progress))
    return Result(report, lambda console: show.unpack(console, report))

"""The command `unpack`."""

from pathlib import Path
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.dialects import unpackings


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "unpack",
        panel="Load",
        tables=False,
        examples=(
            "strandline unpack ~/.ipfs/blocks --out node.car",
            "strandline unpack orbitdb/ --out orbitdb.car",
        ),
    )(_unpack)


def _unpack(
    call: Invocation,
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder in which a node stores its blocks."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.car", help="The file to write.")],
) -> Result:
    """Copy the blocks that a node stores in a folder to one CAR file for ingest. The folder is only read.

    Reads file stores (blockstore-fs, Kubo's flatfs) and LevelDB (blockstore-level, @orbitdb/core) anywhere below DIR.
    LevelDB needs the packages of the extra [leveldb]. Nothing is verified, and no JVM starts.
    """
    from strandline.pipelines import unpack

    with call.progress() as progress:
        request = unpack.UnpackRequest(folder.absolute(), out.absolute())
        report = unpack.run(unpackings(), request, call.context(progress))
    return Result(report, lambda console: show.unpack(console, report))

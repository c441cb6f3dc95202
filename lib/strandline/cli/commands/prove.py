"""The command `prove`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.given import file_of_option
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.dialects import dialect, names


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "prove",
        panel="Verify",
        examples=(
            "strandline prove demo-shop --out today",
            f"strandline prove demo-shop --out entry --record {'5d3c' * 16}",
            "strandline prove demo-shop --out since --consistency last-week.checkpoint",
        ),
    )(_prove)


def _prove(
    call: Invocation,
    namespace: Annotated[
        str, typer.Argument(metavar="NAMESPACE", help="A fingerprint or a log's id; a unique prefix is enough.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="NAME", help="Path of the files to write, without their endings.")
    ],
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="ID", help="Prove that the record with this id (in hex) is in the tree."),
    ] = None,
    consistency: Annotated[
        str | None,
        typer.Option("--consistency", metavar="FILE", help="Prove that the tree continues that of this older note."),
    ] = None,
) -> Result:  # fmt: skip
    """Write the newest signed checkpoint of a namespace, and what proves a record or an older checkpoint by it.

    Alone it writes NAME.checkpoint, a note to keep outside of the lake. --record writes NAME.tlog-proof and
    NAME.record, --consistency writes NAME.consistency. Each proof is verified before it is written. Others check the
    files without Strandline: `python -m strandline_check.proof --help`.
    """
    from strandline.pipelines import prove
    from strandline.pipelines.prove_request import ProveRequest

    request = ProveRequest(namespace, out.absolute(), _record_id(record), _note(record, consistency))
    with call.progress() as progress:
        store, context = call.store(makes=False, writes=False), call.context(progress)
        report = prove.run(store, {name: dialect(name) for name in names()}, request, context)
    return Result(report, lambda console: show.prove(console, report))


def _record_id(text: str | None) -> bytes | None:
    """Return the id of --record. Raises: UsageError RECORD_ID_INVALID."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9A-Fa-f]{64}", text) is None:
        raise UsageError(
            "RECORD_ID_INVALID",
            f"{text[:100]!r} is no record id, which is 32 bytes in hex",
            "`strandline sql` finds ids: SELECT hex(record_id) FROM one of the tables of records",
        )
    return bytes.fromhex(text)


def _note(record: str | None, name: str | None) -> str | None:
    """Return the text of the note of --consistency. Raises: UsageError PROOFS_TWICE, OPTION_FILE, NOTE_REFUSED."""
    if name is None:
        return None
    if record is not None:
        raise UsageError(
            "PROOFS_TWICE", "--record and --consistency ask for two proofs", "run prove once for each of them"
        )
    try:
        return file_of_option("consistency", name).decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(
            "NOTE_REFUSED",
            f"the file {name} is no note: it is not UTF-8",
            "name a note, as `strandline prove NAMESPACE --out NAME` writes it",
        ) from None

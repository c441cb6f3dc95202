"""The reports of `checkpoint` and `prove`."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from strandline.cli.show.parts import counts, head, next_commands
from strandline.cli.text import printable
from strandline.core.sentences import amount
from strandline.pipelines.report import Report


def checkpoint(console: Console, report: Report) -> None:
    """Print how many trees grew, who signed them, and which are damaged."""
    found = report.members
    head(console, report)
    counts(console, report)
    for each in found["damaged"]:
        console.print(Text(f"damaged: {printable(each['namespace'])}: {_what(each)}", style="bold red"))
    more = report.counts["damaged"] - len(found["damaged"])
    if more > 0:
        console.print(Text(f"damaged: {more:,} more", style="bold red"))
    if found["public_key"] is not None:
        console.print(Text(f"signed as {found['origin']}/NAMESPACE"))
        console.print(Text(f"public key: {found['public_key']}"))
    if report.counts["overtaken"]:
        number = amount(report.counts["overtaken"], "namespace")
        console.print(Text(f"another run was faster with {number}: run the command again", style="yellow"))
    if report.counts["damaged"]:
        next_commands(console, ("strandline check",), report)
    elif found["public_key"] is not None:
        next_commands(console, ("strandline prove NAMESPACE --out NAME",), report)


def prove(console: Console, report: Report) -> None:
    """Print what is proven, by which key, and the paths of the files."""
    found = report.members
    head(console, report)
    console.print(
        Text(f"{printable(found['log'])}: {amount(found['size'], 'record')}, checkpoint {found['seq']:,}")
    )
    if "position" in found:
        console.print(Text(f"the record is at place {found['position']:,}"))
        if found["is_pruned"]:
            console.print(Text("the record was pruned: its bytes are not in the lake", style="yellow"))
    if "old_size" in found:
        old = amount(found["old_size"], "record")
        console.print(Text(f"the tree continues that of the older note, of {old}"))
    for path in found["files"]:
        console.print(Text(f"written: {printable(path)}"))
    console.print(Text(f"public key: {found['public_key']}"))


def _what(damaged: Mapping[str, Any]) -> str:
    """Return what is wrong with a tree, in words."""
    if damaged["damage"] == "REMOVED":
        lost = amount(damaged["lost"], "record")
        return f"{lost} of its tree are in no table, the first one {damaged['first_lost']}"
    if damaged["damage"] == "ALTERED":
        return f"its leaves have not the root of checkpoint {damaged['seq'] or 0}"
    return f"the note of checkpoint {damaged['seq']} is refused, {damaged['note']}"

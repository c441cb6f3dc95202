"""The demo's folder: made anew each time, and never one that somebody else made."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from strandline.core.errors import UsageError
from strandline.pipelines.demo.journals import DIALECT, Journal
from strandline.tables.manifests import write_manifest

# Names that begin with a dot are nobody's table.
OWN: Final = ".demo"
MARKER: Final = "made-by-strandline-demo"
INPUT: Final = "input"


def make_anew(lake: Path) -> Path:
    """Remove what an earlier demo left and return the empty folder for this one's input; `lake` holds nothing else.

    Killed at any moment it can be run again: the folder appears with its marker, which is never removed.
    Raises: UsageError DEMO_FOLDER_FOREIGN.
    """
    own = lake / OWN
    if lake.is_symlink() or (lake.exists() and not (own / MARKER).is_file()):
        raise UsageError(
            "DEMO_FOLDER_FOREIGN",
            f"{lake} is there, and demo did not make it",
            "move it away, or run `strandline demo` in another folder",
        )
    if not lake.exists():
        _appear(lake)
    for entry in [*lake.iterdir(), *own.iterdir()]:
        if entry.is_dir() and not entry.is_symlink() and entry != own:
            shutil.rmtree(entry)
        elif entry.is_symlink() or (entry.is_file() and entry.name != MARKER):
            entry.unlink()
    folder = own / INPUT
    folder.mkdir()
    return folder


def write_journals(folder: Path, journals: Sequence[Journal], *, records_in: Callable[[bytes], int]) -> None:
    """Write the journals as files, and beside them the manifest that says what they hold."""
    paths = [folder / journal.name for journal in journals]
    for path, journal in zip(paths, journals, strict=True):
        path.write_bytes(journal.content)
    write_manifest(paths, dialect=DIALECT, records_in=records_in)


def _appear(lake: Path) -> None:
    """Make the folder and its marker in one step."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{lake.name}-", dir=lake.parent))
    fresh.chmod(0o755)
    (fresh / OWN).mkdir()
    (fresh / OWN / MARKER).touch()
    fresh.rename(lake)

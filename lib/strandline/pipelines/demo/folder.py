"""The demo's folder: made anew each time, and never one that somebody else made."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
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


def write_files(folder: Path, dialect: Dialect) -> Path:
    """Write the dialect's files to a folder of their own, beside them the manifest that says what they hold."""
    own = folder / dialect.info.name
    own.mkdir()
    files = dialect.demo().files
    for file in files:
        (own / file.name).write_bytes(file.content)
    write_manifest(
        [own / file.name for file in files],
        dialect=dialect.info.name,
        records_in=dialect.count_records,
        formats=dialect.info.formats,
    )
    return own


def _appear(lake: Path) -> None:
    """Make the folder and its marker in one step."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{lake.name}-", dir=lake.parent))
    fresh.chmod(0o755)
    (fresh / OWN).mkdir()
    (fresh / OWN / MARKER).touch()
    fresh.rename(lake)

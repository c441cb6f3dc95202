"""The demo's folder: recreated each time, but only if the demo made it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from strandline.core.errors import UsageError
from strandline.dialect_api.demo import DemoFile
from strandline.dialect_api.dialect import Dialect
from strandline.tables.new_manifests import write_manifest

# Delta ignores names that begin with a dot.
DEMO_FOLDER: Final = ".demo"
MARKER: Final = "made-by-strandline-demo"
INPUT: Final = "input"
PRUNED_INPUT: Final = "pruned"


def recreate(lake: Path) -> Path:
    """Remove what an earlier demo wrote and return the empty folder for the input, the only content of `lake`.

    Can be repeated after a kill: the folder appears with its marker, which is never removed.
    Raises: UsageError DEMO_FOLDER_FOREIGN.
    """
    demo_folder = lake / DEMO_FOLDER
    if lake.is_symlink() or (lake.exists() and not (demo_folder / MARKER).is_file()):
        raise UsageError(
            "DEMO_FOLDER_FOREIGN",
            f"{lake} exists, and the demo did not create it",
            "move it away, or run `strandline demo` in another folder",
        )
    if not lake.exists():
        _create_with_marker(lake)
    for entry in [*lake.iterdir(), *demo_folder.iterdir()]:
        if entry.is_dir() and not entry.is_symlink() and entry != demo_folder:
            shutil.rmtree(entry)
        elif entry.is_symlink() or (entry.is_file() and entry.name != MARKER):
            entry.unlink()
    folder = demo_folder / INPUT
    folder.mkdir()
    return folder


def write_files(folder: Path, dialect: Dialect) -> tuple[Path, ...]:
    """Write the dialect's files and their manifest to a folder of the dialect; return it.

    The file of the namespace that is pruned gets a folder of its own: the others are to be ingested as if they were the
    user's.
    """
    demo = dialect.demo()
    written = [_write(folder / dialect.info.name, dialect, demo.files)]
    if demo.pruning is not None:
        written.append(_write(folder / PRUNED_INPUT / dialect.info.name, dialect, (demo.pruning.file,)))
    return tuple(written)


def _write(target: Path, dialect: Dialect, files: Sequence[DemoFile]) -> Path:
    target.mkdir(parents=True)
    paths = [target / file.name for file in files]
    for path, file in zip(paths, files, strict=True):
        path.write_bytes(file.content)
    write_manifest(
        paths, dialect=dialect.info.name, records_in=dialect.count_records, formats=dialect.info.formats
    )
    return target


def _create_with_marker(lake: Path) -> None:
    """Create the folder and its marker in one step."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{lake.name}-", dir=lake.parent))
    fresh.chmod(0o755)
    (fresh / DEMO_FOLDER).mkdir()
    (fresh / DEMO_FOLDER / MARKER).touch()
    fresh.rename(lake)

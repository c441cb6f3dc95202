"""The package as an archive, for workers of a server that has no Strandline."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType
from zipfile import ZIP_DEFLATED, ZipFile

from strandline.contracts.resources import folders


def pack(package: ModuleType, folder: Path) -> Path:
    """Write the files of `package` and Strandline's data files to an archive in `folder`, and return its path.

    The archive has the layout of a wheel. `package` is in a folder or in an archive.
    """
    archive = folder / f"{package.__name__}.zip"
    with ZipFile(archive, "w", ZIP_DEFLATED) as out:
        for root in (files(package), *folders().values()):
            inside = package.__name__ if root.name == package.__name__ else f"{package.__name__}/{root.name}"
            for name, file in _files(root, inside):
                if name not in out.NameToInfo:
                    out.writestr(name, file.read_bytes())
    return archive


def _files(folder: Traversable, inside: str) -> Iterator[tuple[str, Traversable]]:
    for each in folder.iterdir():
        if each.is_file() and not each.name.endswith(".pyc"):
            yield f"{inside}/{each.name}", each
        elif each.is_dir():
            yield from _files(each, f"{inside}/{each.name}")

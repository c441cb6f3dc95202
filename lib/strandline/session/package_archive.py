"""The package as an archive, for workers of a server that has no Strandline."""

from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from pathlib import Path
from types import ModuleType
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from strandline.contracts.resources import folders


def pack(package: ModuleType, folder: Path) -> Path:
    """Write the files of `package` and Strandline's data files to an archive in `folder`, and return its path.

    The archive has the layout of a wheel. Its bytes follow from the files, and its name from its bytes: a server that
    does not isolate its sessions refuses one name with different bytes. `package` is in a folder or in an archive.
    """
    content = BytesIO()
    with ZipFile(content, "w") as out:
        for root in (files(package), *folders().values()):
            inside = package.__name__ if root.name == package.__name__ else f"{package.__name__}/{root.name}"
            for name, file in _files(root, inside):
                if name not in out.NameToInfo:
                    # The time of each file in the archive is the first that the format can say.
                    out.writestr(ZipInfo(name), file.read_bytes(), ZIP_DEFLATED)
    digest = sha256(content.getvalue()).hexdigest()
    archive = folder / f"{package.__name__}-{digest[:16]}.zip"
    archive.write_bytes(content.getvalue())
    return archive


def _files(folder: Traversable, inside: str) -> Iterator[tuple[str, Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_file() and not each.name.endswith(".pyc"):
            yield f"{inside}/{each.name}", each
        elif each.is_dir():
            yield from _files(each, f"{inside}/{each.name}")

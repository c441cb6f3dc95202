"""The data files that travel with the package: contracts, views, checks, reason codes, settings.

In a wheel they lie inside the package (`strandline/schemas`, `strandline/conf`), in a checkout at its root.
Both are read as text, so that a wheel on the path of a Spark executor, which is never unpacked, works too.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import yaml

from strandline.core.errors import FaultError

PACKAGE = "strandline"
# Every command reads the contracts: libyaml, where PyYAML has it, reads them in a tenth of the time.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CHECKOUT = Path(__file__).resolve().parents[3]


def text(folder: str, *names: str) -> str:
    """Return the text of one data file, as in `text("schemas", "views", "quarantine_age.sql")`.

    Raises:
        FaultError: The file is not there, so the installation is damaged.
    """
    found = _root(folder).joinpath(*names)
    if not found.is_file():
        raise _missing("/".join((folder, *names)))
    return found.read_text(encoding="utf-8")


def parsed(source: str) -> Any:
    """Return the value of a YAML document of plain types."""
    loader = _LOADER(source)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def stems(folder: str, *names: str, suffix: str) -> tuple[str, ...]:
    """Return the names, without `suffix`, of the files of a folder that end in it, ascending."""
    entries = _root(folder).joinpath(*names).iterdir()
    return tuple(sorted(entry.name.removesuffix(suffix) for entry in entries if entry.name.endswith(suffix)))


def _root(folder: str) -> Traversable:
    packaged = files(PACKAGE).joinpath(folder)
    if packaged.is_dir():
        return packaged
    beside = CHECKOUT / folder
    if beside.is_dir():
        return beside
    raise _missing(folder)


def _missing(name: str) -> FaultError:
    return FaultError(
        code="RESOURCE_MISSING",
        message=f"The file {name} of the package strandline is missing.",
        next="Install the wheel again, or work in a whole checkout.",
    )

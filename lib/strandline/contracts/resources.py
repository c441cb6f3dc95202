"""Data files of the package: contracts, views, checks, reason codes, settings.

In a wheel they are inside the package (`strandline/schemas`, `strandline/conf`), in a checkout at its root. They are
read as text, so this also works in a wheel on the path of a Spark executor, which is never unpacked.
A package that registers a dialect has its contracts, views, checks and reason codes in a folder `schemas` next to the
module that its entry point names.
"""

from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import yaml

from strandline.core.errors import FaultError

PACKAGE = "strandline"
SCHEMAS = "schemas"
CONF = "conf"
DIALECTS = "strandline.dialects"
"""The group of entry points by which other packages register dialects."""
# Every command reads the contracts: libyaml, if PyYAML has it, is ten times faster.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CHECKOUT = Path(__file__).resolve().parents[3]


def text(folder: str, *names: str) -> str:
    """Return the text of one data file, for example `text("schemas", "views", "quarantine_age.sql")`.

    Raises:
        FaultError: The file is missing: the installation is damaged.
    """
    for root in _roots(folder):
        found = root.joinpath(*names)
        if found.is_file():
            return found.read_text(encoding="utf-8")
    raise _missing("/".join((folder, *names)))


def parsed(source: str) -> Any:
    """Return the value of a YAML document of plain types."""
    loader = _LOADER(source)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def stems(folder: str, *names: str, suffix: str) -> tuple[str, ...]:
    """Return the names of the files of a folder that end in `suffix`, without it, ascending."""
    return tuple(sorted({stem for root in _roots(folder) for stem in _stems(root.joinpath(*names), suffix)}))


def registered_stems(suffix: str) -> tuple[str, ...]:
    """Return the names of such files in the folders `schemas` of registered dialects, without `suffix`, ascending."""
    return tuple(sorted({stem for root in registered() for stem in _stems(root, suffix)}))


@cache
def registered() -> tuple[Traversable, ...]:
    """Return the folders `schemas` of the packages that register dialects; without those that cannot be imported."""
    found: dict[str, Traversable] = {}
    for entry in entry_points(group=DIALECTS):
        package = entry.module.rpartition(".")[0] or entry.module
        with suppress(ImportError):
            found[package] = files(package).joinpath(SCHEMAS)
    return tuple(folder for folder in found.values() if folder.is_dir())


def folders() -> dict[str, Traversable]:
    """Return the folders of data files by their names. In a wheel, they are inside the package under these names."""
    return {name: _root(name) for name in (SCHEMAS, CONF)}


def _stems(folder: Traversable, suffix: str) -> list[str]:
    entries = folder.iterdir() if folder.is_dir() else ()
    return [entry.name.removesuffix(suffix) for entry in entries if entry.name.endswith(suffix)]


def _roots(folder: str) -> tuple[Traversable, ...]:
    """Return the folders, Strandline's first: no other package can replace its files."""
    return (_root(folder), *(registered() if folder == SCHEMAS else ()))


def _root(folder: str) -> Traversable:
    packaged = files(PACKAGE).joinpath(folder)
    if packaged.is_dir():
        return packaged
    at_root = CHECKOUT / folder
    if at_root.is_dir():
        return at_root
    raise _missing(folder)


def _missing(name: str) -> FaultError:
    return FaultError(
        code="RESOURCE_MISSING",
        message=f"The file {name} of the package strandline is missing.",
        next="Install the wheel again, or use a complete checkout.",
    )

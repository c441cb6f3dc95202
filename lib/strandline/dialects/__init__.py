"""The registry of dialects: the built-in ones and those that other packages register.

A package registers a dialect with an entry point of the group `strandline.dialects` that names its `DialectInfo`.
Data never selects a dialect: a name is looked up here or refused. Looking up an `info` does not import Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final

from strandline.core.errors import UsageError
from strandline.dialect_api.info import DialectInfo, RunOption

if TYPE_CHECKING:
    from strandline.dialect_api.dialect import Dialect
    from strandline.dialect_api.drawing import DrawingSql
    from strandline.dialect_api.health import HealthSql
    from strandline.dialect_api.unpacking import Unpacking

GROUP: Final = "strandline.dialects"
BUILT_IN: Final = tuple(
    EntryPoint(name, f"strandline.dialects.{name}.info:INFO", GROUP)
    for name in ("sdmp", "ipfslog", "aura", "devicelog")
)


@cache
def infos() -> Mapping[str, DialectInfo]:
    """Return the description of every dialect by name, the built-in ones first.

    Raises: UsageError DIALECT_NOT_LOADED, DIALECT_TWICE (a package registers a dialect wrongly).
    """
    found: dict[str, DialectInfo] = {}
    for entry in (*BUILT_IN, *entry_points(group=GROUP)):
        info = _loaded(entry.name, entry.value)
        if not isinstance(info, DialectInfo) or info.name != entry.name:
            raise _not_loaded(entry.name, entry.value, "it does not name a DialectInfo of that name")
        if info.name in found:
            raise UsageError(
                "DIALECT_TWICE",
                f"two installed packages register a dialect {info.name}",
                "uninstall one of them",
            )
        found[info.name] = info
    return found


def names() -> tuple[str, ...]:
    """Return the names of all dialects."""
    return tuple(infos())


def dialect(name: str) -> Dialect:
    """Return the dialect `name`, which must be one of `names`."""
    found: Dialect = _loaded(name, infos()[name].load)
    return found


def every() -> tuple[Dialect, ...]:
    """Return all dialects; this imports Spark."""
    return tuple(dialect(name) for name in infos())


def record_tables() -> Mapping[str, str]:
    """Return the record table of each dialect, by dialect name, without importing Spark."""
    return {name: info.record_table for name, info in infos().items()}


def run_options(command: str) -> Mapping[str, tuple[RunOption, tuple[str, ...]]]:
    """Return the options that dialects add to a command, by option name, each with the dialects that read it."""
    found: dict[str, tuple[RunOption, tuple[str, ...]]] = {}
    for name, info in infos().items():
        for option in info.run_options:
            if command in option.commands:
                first, readers = found.get(option.name, (option, ()))
                found[option.name] = (first, (*readers, name))
    return found


def health_queries() -> tuple[HealthSql, ...]:
    """Return the health queries of the dialects that have some, without importing Spark."""
    return tuple(_loaded(info.name, info.health) for info in infos().values() if info.health)


def drawings() -> Mapping[str, DrawingSql]:
    """Return how records are drawn, by the names of the dialects that say it, without importing Spark."""
    return {info.name: _loaded(info.name, info.drawing) for info in infos().values() if info.drawing}


def unpackings() -> tuple[Unpacking, ...]:
    """Return how to unpack folders of nodes, of each dialect that can, without importing Spark."""
    return tuple(_loaded(info.name, info.unpacking) for info in infos().values() if info.unpacking)


def _loaded(name: str, place: str) -> Any:
    try:
        return EntryPoint(name, place, GROUP).load()
    except (ImportError, AttributeError) as error:
        raise _not_loaded(name, place, str(error)) from error


def _not_loaded(name: str, place: str, why: str) -> UsageError:
    return UsageError(
        "DIALECT_NOT_LOADED",
        f"the dialect {name} cannot be loaded from {place}: {why}",
        "reinstall the package that registers it, or uninstall it",
    )

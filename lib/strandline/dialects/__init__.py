"""The dialects: a folder each, and a line each here. No data names one: a name is looked up here or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from strandline.dialect_api.base import Dialect
    from strandline.dialect_api.journals import JournalWriter
    from strandline.dialect_api.unpacking import Unpacking


@dataclass(frozen=True, slots=True)
class CommandOption:
    """An option that a dialect adds to commands and reads by itself.

    `name` without its dashes. `is_file`: its value is the path of a file, whose bytes are what the dialect reads.
    `is_list`: it may be given several times.
    """

    name: str
    commands: tuple[str, ...]
    metavar: str
    help: str
    is_file: bool = False
    is_list: bool = False


Part = tuple[str | None, str]
"""A SELECT, and the one that counts (as `found`) what it would be about: none of that, and it need not be asked."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How own nodes stand, as SQL that delta-rs and Spark read, over `tables`.

    `behind` selects namespace and behind: own records and pairs that are missing. `stopped` selects
    namespace and code: why nothing is written on an own journal.
    """

    tables: tuple[str, ...]
    behind: tuple[Part, ...]
    stopped: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a dialect's object is, and what is known of it without Spark.

    `authoring` is the attribute of the module that says how it writes own journals, None if it writes none; `standing`
    then is the module that says how own nodes stand. `unpacking` is the module that says how a folder of its nodes
    becomes a file, None if none does.
    """

    module: str
    attribute: str
    record_table: str
    authoring: str | None = None
    standing: str | None = None
    unpacking: str | None = None
    options: tuple[CommandOption, ...] = ()


_REGISTRY: Final[Mapping[str, Entry]] = {
    "sdmp": Entry(
        "strandline.dialects.sdmp.dialect", "SDMP", "node_journal_line", "SDMP_JOURNALS",
        "strandline.dialects.sdmp.reduce.standing",
        options=(
            CommandOption(
                "nodes", ("ingest", "stream", "reduce", "sync"), "FILE",
                "Own nodes and their connections, a JSON file: their journals are written.", is_file=True,
            ),
            CommandOption(
                "restore", ("ingest",), "NODE",
                "Take lines of this own node that are not held, as those of others; may be repeated.", is_list=True,
            ),
            CommandOption(
                "force-write", ("ingest", "sync"), "NODE",
                "Write on the journal of this own node though its writer stopped; may be repeated.", is_list=True,
            ),
        ),
    ),
    "ipfslog": Entry(
        "strandline.dialects.ipfslog.dialect", "IPFSLOG", "ipfs_log_entry",
        unpacking="strandline.dialects.ipfslog.codec.stored",
    ),
}  # fmt: skip


def names() -> tuple[str, ...]:
    """Return the names of all dialects."""
    return tuple(_REGISTRY)


def record_tables() -> Mapping[str, str]:
    """Return the record table of each dialect, by the dialect's name; Spark is not needed."""
    return {name: entry.record_table for name, entry in _REGISTRY.items()}


def dialect(name: str) -> Dialect:
    """Return the dialect `name`, which must be one of `names`."""
    entry = _REGISTRY[name]
    found: Dialect = getattr(import_module(entry.module), entry.attribute)
    return found


def command_options(command: str) -> tuple[CommandOption, ...]:
    """Return the options that dialects add to a command, each name once; Spark is not needed."""
    found = {
        option.name: option
        for entry in _REGISTRY.values()
        for option in entry.options
        if command in option.commands
    }
    return tuple(found.values())


def options_of(name: str) -> tuple[CommandOption, ...]:
    """Return the options of the dialect `name`; Spark is not needed."""
    return _REGISTRY[name].options


def journal_writer_of(name: str) -> JournalWriter | None:
    """Return how the dialect `name` writes own journals, or None if it writes none."""
    entry = _REGISTRY[name]
    found: JournalWriter | None = (
        getattr(import_module(entry.module), entry.authoring) if entry.authoring else None
    )
    return found


def standings() -> tuple[Standing, ...]:
    """Return how own nodes stand, of each dialect that has some; Spark is not needed."""
    modules = [import_module(entry.standing) for entry in _REGISTRY.values() if entry.standing]
    return tuple(Standing(module.TABLES, module.BEHIND, module.STOPPED) for module in modules)


def unpackings() -> tuple[Unpacking, ...]:
    """Return how folders of nodes become a file, of each dialect that has such; Spark is not needed."""
    modules = [import_module(entry.unpacking) for entry in _REGISTRY.values() if entry.unpacking]
    return tuple(module.UNPACKING for module in modules)


def every() -> tuple[Dialect, ...]:
    """Return all dialects."""
    return tuple(dialect(name) for name in _REGISTRY)

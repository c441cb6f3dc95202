"""The dialects: a folder each, and a line each here. No data names one: a name is looked up here or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from strandline.dialects.base import Dialect


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a dialect's object is, and what is known of it without Spark."""

    module: str
    attribute: str
    record_table: str


_REGISTRY: Final[Mapping[str, Entry]] = {
    "sdmp": Entry("strandline.dialects.sdmp.dialect", "SDMP", "node_journal_line"),
    "ipfslog": Entry("strandline.dialects.ipfslog.dialect", "IPFSLOG", "ipfs_log_entry"),
}


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


def every() -> tuple[Dialect, ...]:
    """Return all dialects."""
    return tuple(dialect(name) for name in _REGISTRY)

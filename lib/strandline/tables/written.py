"""What statements wrote to a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Written:
    """The result of statements: the table's version after them, numbers of inserted, updated and deleted rows."""

    version: int
    inserted: int = 0
    updated: int = 0
    deleted: int = 0

    @property
    def is_change(self) -> bool:
        """Whether a row was inserted, updated or deleted."""
        return bool(self.inserted or self.updated or self.deleted)

    def __add__(self, later: Written) -> Written:
        """Return the sums, and the version of the later one."""
        return Written(
            later.version,
            self.inserted + later.inserted,
            self.updated + later.updated,
            self.deleted + later.deleted,
        )


def add_written(total: dict[str, Written], later: Mapping[str, Written]) -> None:
    """Add later commits to those of each table."""
    for table, each in later.items():
        total[table] = total[table] + each if table in total else each

"""Contracts as values: a table as described in its ODCS file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Merge = Literal["insert_only", "replace", "upsert", "append"]
"""How rows are written: absent ones inserted; the row of a key replaced; repeated ones counted; always appended."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    physical_type: str
    """Spark SQL type, nested ones with their fields' names."""
    required: bool
    description: str
    key_position: int | None = None
    """Position in the primary key from 1, or None."""
    partitioned: bool = False
    provenance: bool = False
    """True if the value depends on the order of deliveries: not part of the equality of tables."""
    distinct: bool = False
    """True if values are nearly unique: Parquet should not try a dictionary."""


@dataclass(frozen=True, slots=True)
class Contract:
    """One table: the source of its DDL, its MERGE and its documentation."""

    table: str
    version: str
    description: str
    columns: tuple[Column, ...]
    merge: Merge
    checks: Mapping[str, str]
    """CHECK constraint by name, with `{buckets}` for the lake's number of buckets."""
    sync_checks: Mapping[str, str]
    """Further conditions, by name, that `sync --from` checks for each row of another lake."""
    properties: Mapping[str, str]
    """Delta table properties, ascending by name; without those that depend on the lake."""
    write_order: tuple[str, ...]
    layout_column: str | None
    """Column whose range can bound a MERGE; in an insert-only table it is derived from the key."""
    written_by: tuple[str, ...]
    on_match: Mapping[str, str]
    """For `upsert`: column to SQL expression over t (stored row) and s (this run's row); else empty."""

    @property
    def names(self) -> tuple[str, ...]:
        """All columns in their order."""
        return tuple(column.name for column in self.columns)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of the primary key in its order."""
        keyed = [
            (column.key_position, column.name) for column in self.columns if column.key_position is not None
        ]
        return tuple(name for _, name in sorted(keyed))

    @property
    def partition(self) -> tuple[str, ...]:
        """The columns that the table is partitioned by, none or `bucket`."""
        return tuple(column.name for column in self.columns if column.partitioned)

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns that decide whether two rows are equal: all but provenance."""
        return tuple(column.name for column in self.columns if not column.provenance)

    def comparable(self, name: str, side: str) -> str:
        """Return SQL for a column of one side of a comparison: SQL does not compare maps, but their entries."""
        is_map = any(each.name == name and each.physical_type.startswith("MAP") for each in self.columns)
        return f"map_entries({side}.{name})" if is_map else f"{side}.{name}"

    def equal(self, name: str, left: str, right: str) -> str:
        """Return the SQL condition that two rows have the same value in a column: null-safe where it can be null."""
        is_required = any(each.name == name and each.required for each in self.columns)
        return f"{left}.{name} {'=' if is_required else '<=>'} {right}.{name}"

    @property
    def is_bucketed(self) -> bool:
        """True if the table has the column `bucket`, and so the number of buckets among its properties."""
        return "bucket" in self.names

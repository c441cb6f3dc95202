"""Contracts as values: what a table is, in the words of its ODCS file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Merge = Literal["insert_only", "replace", "upsert", "append"]
"""How rows come in: absent ones added; the row of a key replaced; a second sighting counted; always added."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    physical_type: str
    """Spark SQL type, nested ones with their fields' names."""
    required: bool
    description: str
    key_position: int | None = None
    """Place in the primary key from 1, None outside of it."""
    partitioned: bool = False
    provenance: bool = False
    """True where the value tells which delivery came first: exempt from the equality of tables."""
    distinct: bool = False
    """True where hardly two rows have one value: a writer that tries a dictionary of them wastes its time."""


@dataclass(frozen=True, slots=True)
class Contract:
    """One table: everything that its DDL, its MERGE and its documentation say."""

    table: str
    version: str
    description: str
    columns: tuple[Column, ...]
    merge: Merge
    checks: Mapping[str, str]
    """CHECK constraint by name, the text `{buckets}` standing for the lake's number of buckets."""
    sync_checks: Mapping[str, str]
    """What `sync --from` asks of each row of another lake beside the checks, by name."""
    properties: Mapping[str, str]
    """Delta table properties, ascending by name; without those that depend on the lake."""
    write_order: tuple[str, ...]
    layout_column: str | None
    """Column whose range may bound a merge: of an insert-only one it follows from the key."""
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

    @property
    def is_bucketed(self) -> bool:
        """True if the table has the column `bucket`, and so the number of buckets among its properties."""
        return "bucket" in self.names

"""The record tables that `reduce` has not read to the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strandline.contracts.shared_tables import STATES
from strandline.tables.delta_rs import DeltaRsLake
from strandline.tables.read_lake import SparkLake

if TYPE_CHECKING:
    from strandline.dialect_api.info import DialectInfo
    from strandline.tables.read_lake import ReadLake
    from strandline.tables.store import TableStore

REDUCED_SQL = "SELECT dialect, max(reduced_version) AS reduced_version FROM namespace_state GROUP BY dialect"


@dataclass(frozen=True, slots=True)
class Unreduced:
    """A record table with rows that `reduce` has not read: its version, and the last version that was read.

    Or one that was made anew, and `reduce` has not noticed that its rows are gone.
    """

    table: str
    version: int
    reduced_version: int | None


def unreduced(lake: "ReadLake", record_tables: Mapping[str, str]) -> tuple[Unreduced, ...]:
    """Return the record tables with rows that `reduce` has not read, by dialect, and those that `init` made anew.

    Of a table that was emptied and reduced no state is left: it has nothing to reduce.
    """
    seen = {row["dialect"]: row["reduced_version"] for row in lake.query(REDUCED_SQL, ("namespace_state",))}
    found = []
    for dialect, table in sorted(record_tables.items()):
        reduced = seen.get(dialect)
        newest = lake.newest_addition(table, -1 if reduced is None else reduced)
        if newest is None and reduced == 0 and _is_empty(lake, table):
            newest = lake.version(table)
        if newest is not None and (reduced is not None or not _is_empty(lake, table)):
            found.append(Unreduced(table, newest, reduced))
    return tuple(found)


def is_unreduced(store: "TableStore", info: "DialectInfo") -> bool:
    """Return whether the record table of a dialect has rows that `reduce` has not read; see `unreduced`.

    delta-rs answers it of a local lake, without a Spark job, unless its tables have what only Spark can read.
    """
    table = info.record_table
    opened = {name: found for name in (STATES, table) if (found := store.delta_rs_table(name)) is not None}
    local = DeltaRsLake(store.location, opened)
    lake = local if opened and not local.needs_spark else SparkLake(store)
    return bool(unreduced(lake, {info.name: table}))


def _is_empty(lake: "ReadLake", table: str) -> bool:
    return not lake.query(f"SELECT 1 FROM {table} LIMIT 1", (table,))

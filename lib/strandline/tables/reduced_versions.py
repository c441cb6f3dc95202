"""The version up to which a record table is reduced: the states of its dialect name it."""

from __future__ import annotations

from typing import Final

import pyarrow.compute as pc
from pyspark.sql import functions as F

from strandline.contracts.maintenance import advance_sql, restart_sql
from strandline.tables.commits import USER_METADATA, session_settings
from strandline.tables.read_lake import replaces_rows
from strandline.tables.reads import TableReads
from strandline.tables.store import TableStore

_STATES: Final = "namespace_state"


def reduced_before(tables: TableReads, dialect: str) -> tuple[int | None, int]:
    """Return the version of the record table up to which a dialect is reduced, or None, and the number of records."""
    few = tables.few_rows(_STATES)
    if few is not None:
        of_dialect = few.filter(pc.equal(few.column("dialect"), dialect))
        return (
            pc.max(of_dialect.column("reduced_version")).as_py(),
            pc.sum(of_dialect.column("record_count")).as_py() or 0,
        )
    states = tables.read(_STATES).where(F.col("dialect") == dialect)
    [stored] = states.agg(
        F.max("reduced_version").alias("version"), F.sum("record_count").alias("records")
    ).collect()
    return stored["version"], stored["records"] or 0


def was_recreated(previous: int, version: int) -> bool:
    """Return whether a record table at `version` is not the one that was reduced at `previous`."""
    return version < previous or previous == 0 < version


def is_unlike_reduced(tables: TableReads, table: str, dialect: str) -> bool:
    """Return whether a record table was restored, replaced or made anew after its last reduction.

    Then the reduced tables may name records that are gone. The states are asked only if the newest commits make it
    possible: one of them replaced rows, or made the table, and then `init` has updated the states.
    """
    commits = tables.newest_commits(table)
    replacing = next((each["version"] for each in commits if replaces_rows(each)), -1)
    if replacing < 0 and not (commits[-1]["version"] == 0 and _are_updated(tables)):
        return False
    previous, _ = reduced_before(tables, dialect)
    return previous is not None and (previous < replacing or was_recreated(previous, commits[0]["version"]))


def _are_updated(tables: TableReads) -> bool:
    """Return whether one of the newest commits of the states is an UPDATE, as `advance` and `restart` commit it."""
    return any(each["operation"] == "UPDATE" for each in tables.newest_commits(_STATES))


def advance(store: TableStore, namespace: str, bucket: int, before: int, version: int) -> None:
    """Set `reduced_version` of one state of a dialect to `version`, if it is still `before`.

    Raises: FaultError `WRITE_CONFLICT`.
    """
    sql = advance_sql(
        target=store.target(_STATES), version=version, before=before, namespace=namespace, bucket=bucket
    )
    with session_settings(store.spark, {USER_METADATA: store.run_id}):
        store.repeated(lambda: store.spark.sql(sql).collect(), table=_STATES, buckets=(bucket,))


def restart(store: TableStore, dialect: str, version: int) -> int:
    """Set `reduced_version` to `version` in all states of a dialect whose record table was recreated.

    Returns how many states had another one. 0, the version that creates a table, means that the next reduction starts
    from nothing.
    Raises: FaultError `WRITE_CONFLICT`.
    """
    sql = restart_sql(target=store.target(_STATES), dialect=dialect, version=version)
    with session_settings(store.spark, {USER_METADATA: store.run_id}):
        [row] = store.repeated(lambda: store.spark.sql(sql).collect(), table=_STATES, buckets=())
    return int(row["num_affected_rows"])

"""The version up to which a record table is reduced: the states of its dialect name it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import pyarrow.compute as pc
from pyspark.sql import functions as F

from strandline.contracts.reduced_version import advance_sql, restart_sql
from strandline.contracts.shared_tables import STATES
from strandline.tables.commits import METADATA_OF_COMMIT, USER_METADATA, session_settings
from strandline.tables.metadata import COMMITS_SEARCHED
from strandline.tables.read_lake import replaces_rows
from strandline.tables.reads import TableReads
from strandline.tables.store import TableStore


def reduced_before(tables: TableReads, dialect: str) -> tuple[int | None, int]:
    """Return the version of the record table up to which a dialect is reduced, or None, and the number of records."""
    few = tables.few_rows(STATES)
    if few is not None:
        of_dialect = few.filter(pc.equal(few.column("dialect"), dialect))
        return (
            pc.max(of_dialect.column("reduced_version")).as_py(),
            pc.sum(of_dialect.column("record_count")).as_py() or 0,
        )
    states = tables.read(STATES).where(F.col("dialect") == dialect)
    [stored] = states.agg(
        F.max("reduced_version").alias("version"), F.sum("record_count").alias("records")
    ).collect()
    return stored["version"], stored["records"] or 0


def reduced_dialects(tables: TableReads) -> set[str]:
    """Return the names of the dialects that have states."""
    few = tables.few_rows(STATES)
    if few is not None:
        return set(few.column("dialect").to_pylist())
    return {row["dialect"] for row in tables.read(STATES).select("dialect").distinct().collect()}


def was_recreated(tables: TableReads, table: str, previous: int, version: int) -> bool:
    """Return whether a record table at `version` is not the one that was reduced at `previous`.

    The states say 0 after `init` made it anew, without records. A clone has records at the version 0, and they may be
    reduced.
    """
    if previous == version == 0:
        return not tables.stored_bytes(table)
    return version < previous or previous == 0


def is_unlike_reduced(tables: TableReads, table: str, dialect: str) -> bool:
    """Return whether a record table was restored, replaced or made anew after its last reduction.

    Then the reduced tables may name records that are gone. The states are asked, unless the newest commits say enough:
    none replaced rows since the commit that `tables` knows from the answer before, or since the version 0, and then no
    `init` has updated the states. Without a state no row counts as reduced: what there is, a first reduction wrote that
    was killed or is under way, and it may have read the table before the commit that replaced rows.
    """
    commits = tables.newest_commits(table)
    known = tables.as_reduced.get(table)
    newer = list(takewhile(lambda each: each != known, commits))
    is_enough = len(newer) < len(commits) or (commits[-1]["version"] == 0 and not may_be_updated(tables))
    if not is_enough or any(map(replaces_rows, newer)):
        previous, _ = reduced_before(tables, dialect)
        if (
            previous is None
            or was_recreated(tables, table, previous, commits[0]["version"])
            or _may_be_replaced(tables, table, previous, commits)
        ):
            return True
    tables.as_reduced[table] = commits[0]
    return False


def _may_be_replaced(
    tables: TableReads, table: str, previous: int, commits: Sequence[Mapping[str, Any]]
) -> bool:
    """Return whether a commit after the version `previous` replaced rows, or is not in the log any more.

    `commits` are the newest ones; if they do not reach back to `previous`, as many as needed are listed.
    """
    version = commits[0]["version"]
    if commits[-1]["version"] > previous + 1:
        commits = tables.newest_commits(table, version - previous + COMMITS_SEARCHED)
    later = [each for each in commits if each["version"] > previous]
    return any(map(replaces_rows, later)) or len(later) < version - previous


def may_be_updated(tables: TableReads) -> bool:
    """Return whether a commit of the states may be an UPDATE, as `advance` and `restart` commit it.

    The newest commits tell that there is none if they begin with the version 0.
    """
    commits = tables.newest_commits(STATES)
    return commits[-1]["version"] > 0 or any(each["operation"] == "UPDATE" for each in commits)


def is_committed_by_others(tables: TableReads, run_id: str, since: int) -> bool:
    """Return whether the states have a commit after the version `since` that is not of the run `run_id`.

    Not only by a MERGE: `advance` and `restart` name a version of the record table by an UPDATE.
    """
    later = tables.commits_after(STATES, since)
    return any(each.get(METADATA_OF_COMMIT) != run_id for each in later)


def updated_by_others(tables: TableReads, run_id: str, since: int) -> list[int]:
    """Return the versions of the states after `since` that an UPDATE of another run committed: `advance`, `restart`."""
    others = (each for each in tables.commits_after(STATES, since) if each.get(METADATA_OF_COMMIT) != run_id)
    return [each["version"] for each in others if each["operation"] == "UPDATE"]


def advance(store: TableStore, namespace: str, bucket: int, before: int, version: int) -> None:
    """Set `reduced_version` of one state of a dialect to `version`, if it is still `before`.

    Raises: FaultError `WRITE_CONFLICT`.
    """
    sql = advance_sql(
        target=store.target(STATES), version=version, before=before, namespace=namespace, bucket=bucket
    )
    with session_settings(store.spark, {USER_METADATA: store.run_id}):
        store.repeated(lambda: store.spark.sql(sql).collect(), table=STATES, buckets=(bucket,))


def restart(store: TableStore, dialect: str, version: int) -> int:
    """Set `reduced_version` to `version` in all states of a dialect whose record table was recreated.

    Returns how many states had another one. 0, the version that creates a table, means that the next reduction starts
    from nothing.
    Raises: FaultError `WRITE_CONFLICT`.
    """
    sql = restart_sql(target=store.target(STATES), dialect=dialect, version=version)
    with session_settings(store.spark, {USER_METADATA: store.run_id}):
        [row] = store.repeated(lambda: store.spark.sql(sql).collect(), table=STATES, buckets=())
    return int(row["num_affected_rows"])

"""What `reduce` has reduced already, and the records that came since."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.dialect import Dialect
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import reduced_versions
from strandline.tables.store import TableStore

LARGE_CHANGES: Final = 1_000_000
"""From this number of new records, they are persisted on disk; if they outnumber the old ones, all are reduced."""


def has_stale_states(store: TableStore, dialect: Dialect, previous: int, jobs: SparkJobs) -> bool:
    """Return whether a run without a row in `run` wrote the newest states, some of this dialect older than `previous`.

    Another run had reduced more records of these namespaces meanwhile, and the killed one did not come to do it again.
    This run then repairs the table of states: see `TableStore.begin_repair`.
    """
    writer = store.begin_repair_of(STATES)
    if writer is None:
        return False
    states = store.read(STATES).where((F.col("dialect") == dialect.info.name) & (F.col("run_id") == writer))
    return jobs.has_rows(states.where(F.col("reduced_version") < previous))


def changes_since(
    store: TableStore, dialect: Dialect, previous: int, version: int, records: int, context: RunContext,
    jobs: SparkJobs,
) -> tuple[DataFrame | None, int]:  # fmt: skip
    """Return the records that were added since `previous` and their number.

    None instead of the records means to reduce everything: Delta does not have the changes, or they outnumber the
    `records` before them.
    """
    table = dialect.info.record_table
    if version == previous:
        return store.read_version(table, version).limit(0), 0
    context.progress.stage(f"reading new records of {table}")
    found = store.changes_since(table, previous, version)
    if found is None:
        context.progress.note(
            f"{table} does not have the changes since version {previous}: everything is reduced"
        )
        return None, 0
    changes, count = found
    if count < LARGE_CHANGES:
        return changes, count
    jobs.persist_on_disk()
    if count <= records:
        return changes, count
    context.progress.note(f"{count:,} new records outnumber those before them: everything is reduced")
    return None, count


def has_new_records(store: TableStore, table: str, reduced: int, version: int) -> bool | None:
    """Return whether records came after the version `reduced`, up to `version`; None if Delta cannot say it."""
    changes = store.changes_since(table, reduced, version)
    return None if changes is None else bool(changes[1]) or store.was_replaced(table, reduced, version)


def advance_reduced_version(
    store: TableStore, dialect: Dialect, before: int, version: int, jobs: SparkJobs
) -> None:
    """Set `reduced_version` to `version` in one state of a dialect: nothing after `before` is left to reduce.

    Raises: FaultError WRITE_CONFLICT.
    """
    states = store.read(STATES).where(
        (F.col("dialect") == dialect.info.name) & (F.col("reduced_version") == before)
    )
    row = jobs.row(states.agg(F.min(F.struct("namespace", "bucket")).alias("state")))["state"]
    if row is not None:
        reduced_versions.advance(store, row["namespace"], row["bucket"], before, version)

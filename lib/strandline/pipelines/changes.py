"""What `reduce` has reduced already, and the records that came since."""

from __future__ import annotations

from typing import Final

import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.dialect import Dialect
from strandline.pipelines.rebuild_diff import STATES
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import old_versions
from strandline.tables.store import TableStore

LARGE_CHANGES: Final = 1_000_000
"""From this number of new records, they are persisted on disk; if they outnumber the old ones, all are reduced."""


def reduced_before(store: TableStore, dialect: Dialect, jobs: SparkJobs) -> tuple[int | None, int]:
    """Return the version of the record table up to which it is reduced, or None, and the number of records."""
    few = store.few_rows(STATES)
    if few is not None:
        of_dialect = few.filter(pc.equal(few.column("dialect"), dialect.info.name))
        return (
            pc.max(of_dialect.column("reduced_version")).as_py(),
            pc.sum(of_dialect.column("record_count")).as_py() or 0,
        )
    states = store.read(STATES).where(F.col("dialect") == dialect.info.name)
    stored = jobs.row(
        states.agg(F.max("reduced_version").alias("version"), F.sum("record_count").alias("records"))
    )
    return stored["version"], stored["records"] or 0


def has_stale_states(store: TableStore, dialect: Dialect, previous: int, jobs: SparkJobs) -> bool:
    """Return whether a run without a row in `run` wrote the newest states, some of this dialect older than `previous`.

    Another run had reduced more records of these namespaces meanwhile, and the killed one did not come to do it again.
    """
    writer = store.partial_run(STATES)
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
        old_versions.advance(store, row["namespace"], row["bucket"], before, version)

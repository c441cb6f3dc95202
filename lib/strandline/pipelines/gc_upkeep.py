"""Maintenance of tables after `gc` deleted records: compaction, and removal of files of old versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.maintenance import REMOVED_FILES
from strandline.contracts.shared_tables import GC_RUNS, QUARANTINE, STATES
from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.pipelines import gc_runs
from strandline.pipelines.changes import advance_reduced_version, has_new_records
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.session.stores import is_on_databricks
from strandline.tables import maintain, old_versions
from strandline.tables.catalogs import left_to_catalog, noting_left
from strandline.tables.old_versions import Kept
from strandline.tables.reduced_versions import reduced_before
from strandline.tables.store import TableStore
from strandline.tables.written import Written, add_written

LEAST_HOURS: Final = 168
"""Delta's own default: what is younger may be needed by a reader or a writer that is still at work."""
MOST_HOURS: Final = 24 * 36_500
BEHIND: Final = "READER_BEHIND"
_ORDER_COLUMNS: Final = 2
_ANY_SIZE: Final = 2**62
NOTHING_REMOVED: Final = -1


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Its options: compact to files of `compact_to` bytes, remove files after `vacuum_hours` (None: not).

    Raises: UsageError VACUUM_HOURS: hours out of range, below LEAST_HOURS without `is_forced`, or force without hours.
    """

    compact_to: int | None = None
    vacuum_hours: int | None = None
    is_forced: bool = False

    def __post_init__(self) -> None:
        """Check the hours."""
        if self.vacuum_hours is None:
            if self.is_forced:
                raise _hours("--force-vacuum needs the hours that files stay.", "Give --vacuum HOURS, too.")
        elif not 0 <= self.vacuum_hours <= MOST_HOURS:
            raise _hours(f"--vacuum {self.vacuum_hours} is not from 0 to {MOST_HOURS}.", "Give hours.")
        elif self.vacuum_hours < LEAST_HOURS and not self.is_forced:
            raise _hours(
                f"--vacuum {self.vacuum_hours} is below {LEAST_HOURS}: readers and writers may need younger files.",
                "Give more hours, or --force-vacuum if nothing else uses this lake now.",
            )


@dataclass(slots=True)
class UpkeepResult:
    """The result: commits, numbers of files, the reducers that are behind, and the tables left to their catalog."""

    written: dict[str, Written] = field(default_factory=dict)
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("compacted_files", "written_files", "removed_files"), 0)
    )
    behind: list[dict[str, Any]] = field(default_factory=list)
    left: set[str] = field(default_factory=set)


def keep_up(
    store: TableStore, dialects: Iterable[Dialect], asked: Upkeep, context: RunContext, jobs: SparkJobs
) -> UpkeepResult:
    """Compact the record tables of dialects, then remove the files of their old versions and of `quarantine`.

    No file is removed while a reducer is behind, that is, while it has not reduced a version whose files could be
    removed. Then the rows of `gc_run` of this run get the reason READER_BEHIND. Otherwise all rows whose deleted bytes
    are in no file get `vacuumed_at`: none if a catalog lets nobody else vacuum a table.
    Raises: FaultError WRITE_CONFLICT.
    """
    done = UpkeepResult()
    used = [each for each in dialects if store.stored_bytes(each.info.record_table)]
    if asked.compact_to is not None:
        for dialect in used:
            _compact(store, dialect.info.record_table, asked.compact_to, context, done)
    if asked.vacuum_hours is not None:
        now = context.started_at + timedelta(seconds=context.elapsed())
        kept = {each: _kept(store, each.info.record_table, asked.vacuum_hours) for each in used}
        done.behind = [
            row
            for each, stays in kept.items()
            if (row := _behind(store, each, now - stays.least, jobs)) is not None
        ]
        if done.behind:
            done_runs = gc_runs.of_run(store).where("outcome = 'DONE' AND gc_number IS NOT NULL")
            add_written(
                done.written, gc_runs.write_runs(store, done_runs.withColumn("reason", F.lit(BEHIND)))
            )
        else:
            # Before files are removed: a VACUUM commits versions of its own.
            before = {each: now - stays.most for each, stays in kept.items() if stays.most is not None}
            removed = _without_files(store, before)
            if _vacuum(store, used, asked.vacuum_hours, context, done):
                add_written(done.written, gc_runs.write_runs(store, _vacuumed(store, removed, now)))
    if done.left:
        context.progress.note(left_to_catalog(done.left))
    return done


def _compact(
    store: TableStore, table: str, target_bytes: int, context: RunContext, done: UpkeepResult
) -> None:
    """Rewrite the buckets with two files or more, each sorted by namespace and order."""
    files = maintain.small_files(store, table, small_bytes=_ANY_SIZE, least=2)
    if not files.files:
        return
    context.progress.stage(f"compacting {table}")
    with noting_left(table, done.left):
        removed, added = maintain.compact(
            store, table, files, small_bytes=target_bytes, target_bytes=target_bytes,
            order=contract(table).write_order[:_ORDER_COLUMNS],
        )  # fmt: skip
        done.counts["compacted_files"] += removed
        done.counts["written_files"] += added
        add_written(done.written, {table: Written(store.version(table))})


def _behind(store: TableStore, dialect: Dialect, before: datetime, jobs: SparkJobs) -> dict[str, Any] | None:
    """Return what the reduction of a dialect still has to read of files that would go, or None.

    If only collections and maintenance were committed since, it has nothing to read; its state records this.
    """
    table = dialect.info.record_table
    reduced, _ = reduced_before(store, dialect.info.name)
    newest = store.version(table)
    if reduced is None or reduced >= newest:
        return None
    ended = old_versions.committed_at(store, table, reduced + 1, newest)
    if ended is None or ended > before:
        return None
    has_new = has_new_records(store, table, reduced, newest)
    if has_new is None:
        return None
    if has_new:
        return {"dialect": dialect.info.name, "table": table, "reduced_version": reduced, "version": newest}
    advance_reduced_version(store, dialect, reduced, newest, jobs)
    return None


def _vacuum(
    store: TableStore, dialects: Iterable[Dialect], hours: int, context: RunContext, done: UpkeepResult
) -> bool:
    """Remove old files of the tables; return False if a table is left to its catalog."""
    left: set[str] = set()
    for table in (*(each.info.record_table for each in dialects), QUARANTINE):
        context.progress.stage(f"removing files of {table}")
        with noting_left(table, left):
            maintain.purge(store, table)
            done.counts["removed_files"] += old_versions.vacuum_now(store, table, hours)
            context.faults.reach(f"gc.vacuumed.{table}")
            add_written(done.written, {table: Written(store.version(table))})
    done.left |= left
    return not left


def _kept(store: TableStore, table: str, hours: int) -> Kept:
    """Return how long `_vacuum` leaves removed files of a record table and of `quarantine`."""
    stated = (maintain.retention_days(store, each)[REMOVED_FILES] for each in (table, QUARANTINE))
    return old_versions.kept(hours, stated, on_databricks=is_on_databricks(store.spark.conf.get))


def _without_files(store: TableStore, before: Mapping[Dialect, datetime]) -> DataFrame:
    """Return up to which version each record table loses files, -1 for none.

    Gives: dialect, removed_version, newest.  Rows: one per table.
    """
    versions = []
    for each, at in before.items():
        table = each.info.record_table
        # Read first: commits of others in the meantime must not count as the newest version.
        newest = store.version(table)
        removed = old_versions.last_removed_version(store, table, at)
        versions.append((each.info.name, NOTHING_REMOVED if removed is None else removed, newest))
    return store.spark.createDataFrame(versions, "dialect STRING, removed_version BIGINT, newest BIGINT")


def _vacuumed(store: TableStore, removed: DataFrame, now: datetime) -> DataFrame:
    """Return the rows of `gc_run` whose deleted bytes are in no file any more, with the time.

    The row of a collection that another run finished, or whose records came back, does not name the commit that
    deleted. All of its records are deleted at the newest version, which its row then names. Records of a collection
    that a RESTORE of `pruned_record` undid may still be there: its row never gets a time.
    """
    states = store.read(STATES).select("namespace", "dialect").join(F.broadcast(removed), "dialect")
    open_ = store.read(GC_RUNS).where("outcome = 'DONE' AND gc_number IS NOT NULL AND vacuumed_at IS NULL")
    numbers = gc_runs.numbers(store, open_).select(*gc_runs.RUN_KEY, "number")
    found = open_.join(states, "namespace").join(numbers, list(gc_runs.RUN_KEY), "left")
    is_removed = F.coalesce("delete_version", "newest") <= F.col("removed_version")
    return (
        found.where("pruned = 0 OR number IS NOT NULL")
        .where(is_removed | F.col("delete_version").isNull())
        .withColumns(
            {
                "delete_version": F.coalesce("delete_version", "newest"),
                "vacuumed_at": F.when(is_removed, F.lit(now.astimezone(UTC))),
            }
        )
        .select(*open_.columns)
    )


def _hours(message: str, advice: str) -> UsageError:
    return UsageError("VACUUM_HOURS", message, advice)

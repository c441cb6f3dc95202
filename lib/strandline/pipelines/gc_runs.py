"""The steps of `gc` outside its rounds: check tables, finish killed collections, write and show rows of `gc_run`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import GC_RUNS, PRUNED, STATES
from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.pruning import Prunes, form_of
from strandline.frames.known import KEY, is_of_kind, pruned_records
from strandline.pipelines.gc_deletes import carry_out, left_over
from strandline.pipelines.report import as_json
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import maintain
from strandline.tables.read_lake import in_utc
from strandline.tables.store import TableStore
from strandline.tables.written import Written, add_written

SHOWN: Final = 1_000
APPEND_ONLY: Final = "delta.appendOnly"
RUN_KEY: Final = ("run_id", "namespace")
_OPEN: Final = "outcome IN ('PROVED', 'VOID')"
_Pairs = Iterable[tuple[Dialect, Prunes]]


def check_tables(store: TableStore, pairs: Iterable[tuple[Dialect, Prunes]]) -> None:
    """Check that rows of the record tables may be deleted. Raises: UsageError TABLE_APPEND_ONLY."""
    for dialect, _ in pairs:
        table = dialect.info.record_table
        if store.properties(table).get(APPEND_ONLY, "").lower() == "true":
            raise UsageError(
                "TABLE_APPEND_ONLY",
                f"{table} has the property {APPEND_ONLY}, so its rows cannot be deleted.",
                f"Leave its dialect out with --dialect, or unset the property: {dialect.info.name} can be pruned.",
            )


def finish(
    store: TableStore, pairs: Sequence[tuple[Dialect, Prunes]], context: RunContext, jobs: SparkJobs
) -> tuple[int, dict[str, Written]]:
    """Delete or erase what `pruned_record` lists of these dialects, and close their rows of `gc_run` of killed runs.

    Returns the number of rows that a killed run had left, and the commits.
    """
    if not store.stored_bytes(GC_RUNS) and not store.stored_bytes(PRUNED):
        return 0, {}
    count = 0
    written: dict[str, Written] = {}
    context.progress.stage("finishing earlier collections")
    for dialect, prunes in pairs:
        info = dialect.info
        if not store.stored_bytes(info.record_table):
            continue
        # A run that was killed after its deletion may have left what deletion vectors hide.
        maintain.purge(store, info.record_table)
        pruned = pruned_records(store.read(PRUNED), info.kinds, form_of(info))
        left = jobs.persist(left_over(store, info, pruned), "records that are left over")
        reopen = partial(_reopen, store, pruned, left)
        done = carry_out(store, dialect, prunes, left, jobs, context, before=reopen)
        add_written(written, done.written)
        count += done.records
    # Rows of this run id are those of a killed attempt. Another run may have closed rows as VOID whose run was still
    # alive and has pruned.
    kinds = [kind for dialect, _ in pairs for kind in dialect.info.kinds]
    open_runs = store.read(GC_RUNS).where(_OPEN).where(is_of_kind(kinds))
    closed = (
        open_runs.drop("gc_number").join(numbers(store, open_runs), list(RUN_KEY), "left")
        .where("outcome = 'PROVED' OR number IS NOT NULL")
        .withColumnRenamed("number", "gc_number")
        .withColumns(
            {
                "outcome": F.when(F.col("gc_number").isNull(), F.lit("VOID")).otherwise(F.lit("DONE")),
                "pruned": F.coalesce("pruned_count", F.lit(0).cast("bigint")),
            }
        )
    )  # fmt: skip
    # A run that was alive may have written its outcome since: its row stays.
    add_written(written, write_runs(store, closed, f"t.{_OPEN}"))
    return count, written


def _reopen(store: TableStore, pruned: DataFrame, left: DataFrame) -> dict[str, Written]:
    """Clear the columns of `gc_run` about a deletion that must be repeated: its version, and the time of its vacuum.

    Records come back by a RESTORE, or by an ingest that ran during the collection. The columns are cleared before the
    records are deleted again. After a kill the row names no version, and the newest one counts.

    Reads:  pruned: rows of `pruned_record`; left: the columns of `left_over`.
    """
    again = (
        pruned.join(left.select("bucket", *KEY), ["bucket", *KEY], "left_semi").select(*RUN_KEY).distinct()
    )
    is_closed = "outcome = 'DONE' AND (delete_version IS NOT NULL OR vacuumed_at IS NOT NULL)"
    runs = store.read(GC_RUNS).where(is_closed).join(again, list(RUN_KEY), "left_semi")
    nothing = {
        "delete_version": F.lit(None).cast("bigint"),
        "vacuumed_at": F.lit(None).cast("timestamp"),
    }
    return write_runs(store, runs.withColumns(nothing))


def numbers(store: TableStore, runs: DataFrame) -> DataFrame:
    """Return what `pruned_record` has of the runs and namespaces of rows of `gc_run`.

    Gives:  run_id, namespace, number (of the newest collection), pruned_count (records).
    Rows:   one per run and namespace that pruned something.
    """
    asked = runs.select(*RUN_KEY).distinct()
    return (
        store.read(PRUNED)
        .join(asked, list(RUN_KEY), "left_semi")
        .groupBy(*RUN_KEY)
        .agg(F.max("gc_number").alias("number"), F.count(F.lit(1)).alias("pruned_count"))
    )


def write_runs(
    store: TableStore, runs: DataFrame, where: str = "", buckets: Collection[int] | None = None
) -> dict[str, Written]:
    """Write rows of `gc_run`; a row of the same run and namespace is replaced, if `where` holds for it (t).

    `buckets` are those of the rows, if they are known.
    """
    if buckets is None:
        buckets = runs.agg(F.collect_set("bucket").alias("buckets")).collect()[0]["buckets"]
    return {GC_RUNS: store.upsert(GC_RUNS, runs, tuple(sorted(buckets)), where=where)} if buckets else {}


def of_run(store: TableStore) -> DataFrame:
    """Return the rows of `gc_run` of this run."""
    return store.read(GC_RUNS).where(F.col("run_id") == store.run_id)


def pruned_before(store: TableStore, jobs: SparkJobs) -> DataFrame | None:
    """Return the namespaces that a killed attempt of this run pruned; None without such an attempt.

    The next run finishes them: a namespace has one row of `gc_run` for each run, with one proof and one number.
    """
    if not store.stored_bytes(GC_RUNS) or not jobs.has_rows(of_run(store)):
        return None
    ours = store.read(PRUNED).where(F.col("run_id") == store.run_id)
    return jobs.checkpoint(ours.select("namespace").distinct(), "namespaces pruned before")


def kept_by_others(
    store: TableStore, every: Iterable[Dialect], pairs: _Pairs, dialects: tuple[str, ...]
) -> dict[str, dict[str, int]]:
    """Return the number of records of dialects that keep all of them, in the form of `holds`."""
    pruning = {dialect.info.name for dialect, _ in pairs}
    names = [
        each.info.name
        for each in every
        if each.info.name not in pruning and (not dialects or each.info.name in dialects)
    ]
    if not names:
        return {}
    few = store.few_rows(STATES)
    if few is not None:
        totals = few.group_by("dialect").aggregate([("record_count", "sum")]).to_pylist()
        kept = {row["dialect"]: row["record_count_sum"] for row in totals if row["dialect"] in names}
    else:
        states = store.read(STATES).where(F.col("dialect").isin(*names))
        rows = states.groupBy("dialect").agg(F.sum("record_count").alias("records")).collect()
        kept = {row["dialect"]: row["records"] for row in rows}
    return {name: {"KIND_KEPT": records} for name, records in kept.items()}


def shown(runs: DataFrame) -> list[dict[str, Any]]:
    """Return the first rows of `gc_run` for the report."""
    rows = runs.orderBy("namespace").limit(SHOWN).collect()
    hidden = ("bucket", "run_id")
    return [
        {name: as_json(value) for name, value in in_utc(row).items() if name not in hidden} for row in rows
    ]

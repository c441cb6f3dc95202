"""`reduce`: brings the reduced tables up to the record tables, at a cost that follows the news."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce as fold

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.dialects.authoring import OwnRun
from strandline.dialects.base import Dialect, ReduceScope, Reduction
from strandline.pipelines import init
from strandline.pipelines.authoring import write_peers
from strandline.pipelines.init import InitOptions
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import finished
from strandline.pipelines.stage import RunStage
from strandline.tables import lake
from strandline.tables.store import TableStore, Written

STATES = "namespace_state"
DIFFERENCES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class ReduceRequest:
    """What `reduce` was asked for: `full` reduces everything again and names what differs; `own` are the own nodes, by
    dialect, whose peers are looked at.
    """

    full: bool = False
    own: Mapping[str, OwnRun] = field(default_factory=dict)


@dataclass(slots=True)
class Done:
    """What a reduction did so far."""

    written: dict[str, Written] = field(default_factory=dict)
    read_versions: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"new_records": 0, "reduced": 0})
    namespaces: int = 0
    differences: dict[str, list[str]] = field(default_factory=dict)


def run(
    store: TableStore, dialects: Iterable[Dialect], request: ReduceRequest, context: RunContext
) -> Report:
    """Reduce what came since the last time; with `full` then everything again, which must change no row.

    Writes a MERGE a table, `namespace_state` last: views join on it, so that no reader sees a namespace half updated.
    Raises: UsageError (a lake that is not ours), FaultError WRITE_CONFLICT.
    """
    dialects = tuple(dialects)
    lake.require(store, init.design(InitOptions(), dialects))
    done = bring_up(store, dialects, request, context)
    return finished(
        store, context, outcome="found" if done.differences else "ok", counts=done.counts, namespaces=done.namespaces,
        read_versions=done.read_versions, written=done.written,
        members={"differences": done.differences} if request.full else {},
    )  # fmt: skip


def bring_up(
    store: TableStore, dialects: Iterable[Dialect], request: ReduceRequest, context: RunContext
) -> Done:
    """Do what `run` does, on a lake that is there, and leave the run's row to the caller."""
    done = Done()
    for dialect in dialects:
        with store.sized(store.stored_bytes(dialect.record_table)), RunStage(context.progress) as stage:
            _reduce(store, dialect, request, context, stage, done)
            own = request.own.get(dialect.name)
            if own is not None:
                last = done.read_versions[dialect.record_table]
                for table, written in write_peers(store, own, last, context).items():
                    _add(done, table, written)
    return done


def _reduce(
    store: TableStore,
    dialect: Dialect,
    request: ReduceRequest,
    context: RunContext,
    stage: RunStage,
    done: Done,
) -> None:
    last = store.version(dialect.record_table)
    states = store.read(STATES).where(F.col("dialect") == dialect.name)
    before = stage.one(states.agg(F.max("reduced_version").alias("version")))["version"]
    done.read_versions[dialect.record_table] = last
    scope = ReduceScope(before, last, context.run_id, context.started_at)
    if before is None:
        reduction = dialect.reduce_all(store, stage, scope)
        _write(store, reduction, context, stage, done)
    elif last > before:
        feed = store.changes_since(dialect.record_table, before, last)
        if feed is None:
            context.progress.note(
                f"the log of {dialect.record_table} no longer tells what came since version {before}: all is reduced"
            )
            _write(store, dialect.reduce_all(store, stage, scope), context, stage, done)
            return
        news = stage.keep(feed, "change feed")
        found = stage.one(news.agg(F.count(F.lit(1)).alias("rows")))["rows"]
        if found:
            done.counts["new_records"] += found
            _write(store, dialect.reduce_new(news, store, stage, scope), context, stage, done)
    if request.full and before is not None:
        again = dialect.reduce_all(store, stage, scope)
        differing = _differences(store, dialect, again)
        if differing:
            done.differences.update(differing)
            _write(store, again, context, stage, done)
            _delete_strays(store, dialect, again, stage)


def _write(store: TableStore, reduction: Reduction, context: RunContext, stage: RunStage, done: Done) -> None:
    states = stage.settle(reduction.states, "states")
    found = stage.one(states.agg(F.count(F.lit(1)).alias("rows"), F.collect_set("bucket").alias("buckets")))
    if not found["rows"]:
        return
    done.namespaces += found["rows"]
    done.counts["reduced"] += found["rows"]
    buckets = tuple(sorted(found["buckets"]))
    for table, rows in reduction.tables.items():
        context.progress.stage(table)
        _add(done, table, store.replace(table, rows, buckets))
        context.faults.reach(f"reduce.{table}")
    context.faults.reach("reduce.before_state")
    context.progress.stage(STATES)
    _add(done, STATES, store.replace(STATES, states, buckets))


def _add(done: Done, table: str, written: Written) -> None:
    before = done.written.get(table, Written(0))
    done.written[table] = Written(written.version, before.inserted + written.inserted)


def _differences(store: TableStore, dialect: Dialect, again: Reduction) -> dict[str, list[str]]:
    """Return, by table, the first namespaces whose stored rows are not those that all records give."""
    found: dict[str, list[str]] = {}
    for table in (*dialect.reduced, STATES):
        rows = again.states if table == STATES else again.tables.get(table)
        differing = _differing(store, dialect, table, rows)
        names = [
            row["namespace"]
            for row in differing.select("namespace").distinct().limit(DIFFERENCES_SHOWN).collect()
        ]
        if names:
            found[table] = sorted(names)
    return found


def _differing(store: TableStore, dialect: Dialect, table: str, rows: DataFrame | None) -> DataFrame:
    """Rows that are stored and not given, given and not stored, or not equal but for provenance."""
    described = contract(table)
    stored = _stored(store, dialect, table).select(*described.compared)
    given = stored.limit(0) if rows is None else rows.select(*described.compared)
    unequal: list[Column] = [
        ~F.col(f"s.{name}").eqNullSafe(F.col(f"g.{name}")) for name in described.compared
    ]
    keys = [F.col(f"s.{name}") == F.col(f"g.{name}") for name in ("bucket", *described.key)]
    joined = stored.alias("s").join(given.alias("g"), fold(Column.__and__, keys), "full_outer")
    differing = joined.where(fold(Column.__or__, unequal))
    return differing.select(
        F.coalesce("s.namespace", "g.namespace").alias("namespace"),
        F.col("g.namespace").isNull().alias("is_stray"),
        *(F.col(f"s.{name}").alias(name) for name in ("bucket", *described.key) if name != "namespace"),
    )


def _stored(store: TableStore, dialect: Dialect, table: str) -> DataFrame:
    rows = store.read(table)
    return rows.where(F.col("dialect") == dialect.name) if "dialect" in rows.columns else rows


def _delete_strays(store: TableStore, dialect: Dialect, again: Reduction, stage: RunStage) -> None:
    """Delete stored rows that no record gives."""
    for table in (*dialect.reduced, STATES):
        rows = again.states if table == STATES else again.tables.get(table)
        strays = stage.settle(_differing(store, dialect, table, rows).where("is_stray"), "stray rows")
        buckets = stage.one(strays.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
        if buckets:
            store.delete(table, strays.select("bucket", *contract(table).key), tuple(buckets))

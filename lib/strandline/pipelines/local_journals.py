"""Writes local journals: appends to their tips, commit by commit, and reports the nodes whose writers stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.core.errors import FaultError
from strandline.dialect_api.info import DialectInfo
from strandline.dialect_api.journals import AuthorScope, WritesJournals
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.store import TableStore
from strandline.tables.written import Written

ATTEMPTS = 5
"""Attempts to append at a tip while other writers move it."""


@dataclass(frozen=True, slots=True)
class WrittenJournals:
    """The writer's result: the last commit or None, the number of new records, the reason codes of stopped nodes."""

    written: Written | None
    authored: int
    stopped: Mapping[str, tuple[str, ...]]


def write_local_journals(
    store: TableStore, info: DialectInfo, writer: WritesJournals, options: object, context: RunContext, *,
    with_peers: bool = False,
) -> WrittenJournals:  # fmt: skip
    """Write what local nodes announce, and `with_peers` what their peers name, until nothing is left.

    A commit adds to a journal all of its rows or none: none if the journal grew since its tip was read. Then the writer
    starts again from the new tip. A kill loses nothing: the next run writes what is missing.

    Raises: FaultError WRITE_CONFLICT after the last attempt.
    """
    # A run without input can have much to write.
    with store.sized(sum(map(store.stored_bytes, info.ingest_tables))):
        return _write(store, info.record_table, writer, options, context, with_peers=with_peers)


def _write(
    store: TableStore, table: str, writer: WritesJournals, options: object, context: RunContext, *, with_peers: bool
) -> WrittenJournals:  # fmt: skip
    version = store.version(table)
    start = version if with_peers else None
    stopped = _stopped(store, writer, options, context, version)
    last: Written | None = None
    inserted = authored = lost = 0
    while True:
        with SparkJobs(context.progress) as jobs:
            scope = AuthorScope(version, stopped, start)
            commit = writer.next_commit(options, store, jobs, scope)
            if commit is None:
                break
            context.faults.reach("authoring.tip")
            context.progress.stage("writing local journals")
            done = store.append_at_tip(table, commit.rows, commit.buckets, commit.bounds)
        context.faults.reach("authoring.commit")
        inserted += done.inserted
        last = Written(done.version, inserted)
        if done.inserted == commit.count:
            authored += commit.authored
            if commit.whole:
                break
            version = store.version(table)
            continue
        authored += max(0, done.inserted - (commit.count - commit.authored))
        lost += 1
        if lost == ATTEMPTS:
            raise _lost(table)
        version = store.version(table)
        stopped = _stopped(store, writer, options, context, version)
    return WrittenJournals(last, authored, stopped)


def _stopped(
    store: TableStore, writer: WritesJournals, options: object, context: RunContext, version: int
) -> Mapping[str, tuple[str, ...]]:
    with SparkJobs(context.progress) as jobs:
        return writer.stopped(options, store, jobs, version)


def _lost(table: str) -> FaultError:
    return FaultError(
        code="WRITE_CONFLICT",
        message=f"Other writers continued the same local journals in {table} {ATTEMPTS} times before this run could.",
        next="Run the same command again when they are done: it writes what is missing.",
    )


def write_peers(
    store: TableStore, writer: WritesJournals, options: object, version: int, context: RunContext
) -> Mapping[str, Written]:
    """Update the tables of peers from the journals and the options; delete rows that no longer apply.

    `version` is the version of the record table that the journals were reduced from.
    """
    done: dict[str, Written] = {}
    with SparkJobs(context.progress) as jobs:
        found = writer.peers(options, store, jobs, version)
        for name, given in found.items():
            context.progress.stage(f"writing {name}")
            rows = jobs.checkpoint(given, name)
            key = ["bucket", *contract(name).key]
            strays = jobs.checkpoint(store.read(name).select(*key).join(rows, key, "left_anti"), "stray rows")
            touched = rows.select("bucket").unionByName(strays.select("bucket"))
            buckets = jobs.row(touched.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
            if buckets:
                deletes = strays if jobs.has_rows(strays) else None
                done[name] = store.replace(name, rows, tuple(buckets), deletes)
            context.faults.reach(f"authoring.{name}")
    return done

"""`sync`: writes what peers name on own journals, and exchanges requests and answers with them by files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from strandline.dialect_api.base import Dialect
from strandline.dialect_api.journals import JournalOptions
from strandline.pipelines import init, reduce
from strandline.pipelines.init import InitOptions
from strandline.pipelines.local_journals import write_local_journals
from strandline.pipelines.reduce import ReduceRequest
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.manifests import write_manifest_of
from strandline.tables.outfile import write_lines
from strandline.tables.store import TableStore, Written


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What `sync` was asked for: `requests` is the file for what own nodes ask of their peers, if any."""

    own: JournalOptions
    requests: Path | None = None


def run(store: TableStore, dialect: Dialect, request: SyncRequest, context: RunContext) -> Report:
    """Append to own journals what they hold and what peers name, then bring the reduced tables up.

    Own nodes read their peers, own ones too, as they were at the start. Killed anywhere and run again it ends with the
    same tables.
    Raises: UsageError (a lake that is not ours), FaultError WRITE_CONFLICT, OUT_NOT_WRITABLE.
    """
    lake.require(store, init.design(InitOptions(), (dialect,)))
    own, table = request.own, dialect.record_table
    with store.sized(store.stored_bytes(table)):
        authored = write_local_journals(store, table, own, context, with_peers=True)
    done = reduce.reduce_tables(store, (dialect,), ReduceRequest(own={dialect.name: own}), context)
    written: dict[str, Written] = dict(done.written)
    if authored.written is not None:
        written = {table: authored.written, **written}
    counts = {"authored": authored.authored, "reduced": done.counts["reduced"]}
    members: dict[str, object] = {"stopped": {node: list(codes) for node, codes in authored.stopped.items()}}
    if request.requests is not None:
        context.progress.stage("requests")
        asked, counts["requests"] = write_lines(own.authoring.requests(own.choices, store), request.requests)
        members["requests_file"] = str(asked.path)
    return record_run(
        store, context, outcome="found" if authored.stopped else "ok", dialect=dialect.name, counts=counts,
        namespaces=done.namespaces, read_versions=done.read_versions, written=written, members=members,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """The file of requests that is answered, and the file of the answers."""

    own: JournalOptions
    requests: Path
    out: Path


def answer(store: TableStore, dialect: Dialect, request: AnswerRequest, context: RunContext) -> Report:
    """Answer the requests of a file from own journals, in its order; no table changes.

    Raises: UsageError (a lake that is not there or not ours), FaultError OUT_NOT_WRITABLE.
    """
    lake.require(store, init.design(InitOptions(), (dialect,)))
    own = request.own
    with SparkJobs(context.progress) as jobs:
        found = own.authoring.answers(own.choices, store, jobs, str(request.requests))
        context.progress.stage("answers")
        written, answered = write_lines(found.frames, request.out)
        write_manifest_of(written, dialect=dialect.name, records=found.counts["lines"])
    counts: Mapping[str, int] = {"answered": answered, **found.counts}
    members = {"refused_nodes": dict(found.refused), "answers_file": str(written.path)}
    return context.report(store.location.describe(), counts=counts, members=members)

"""`sync`: writes to local journals what peers name, and exchanges requests and answers with peers by files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from strandline.config.settings import Settings
from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.journals import ANSWER_LINES, WritesJournals, journal_writer
from strandline.dialect_api.reduction import WALK_ENTRIES
from strandline.pipelines import init, reduce
from strandline.pipelines.local_journals import write_local_journals
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.reduce_result import with_reduction
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.new_manifests import check_new
from strandline.tables.newfile import NewFile
from strandline.tables.outfile import publish_with_manifest, write_lines
from strandline.tables.store import TableStore
from strandline.tables.written import Written


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """The arguments of `sync`: `options` as parsed by the dialect, and the file for requests, or None.

    `walk_entries` is as in `reduce`.
    """

    options: object
    requests: Path | None = None
    walk_entries: int = WALK_ENTRIES


def run(
    store: TableStore, dialect: Dialect, request: SyncRequest, settings: Settings, context: RunContext
) -> Report:
    """Append to local journals what the nodes announce and what peers name, then update the reduced tables.

    Nodes read their peers, also local ones, as they were at the start of the run. After a kill the same call ends with
    the same tables. What `reduce` finds is found here, too: damaged columns, namespaces over a limit.
    Raises: UsageError (the lake is foreign), FaultError WRITE_CONFLICT, OUT_NOT_WRITABLE.
    """
    lake.require(store, init.design_by(settings, (dialect,)))
    writer, options = writer_of(dialect, request.options), request.options
    journals = write_local_journals(store, dialect.info, writer, options, context, with_peers=True)
    asking = ReduceRequest(options={dialect.info.name: options}, walk_entries=request.walk_entries)
    done = reduce.reduce_tables(store, (dialect,), asking, context)
    written: dict[str, Written] = dict(done.written)
    if journals.written is not None:
        written = {dialect.info.record_table: journals.written, **written}
    counts = {"authored": journals.authored, "reduced": done.counts["reduced"]}
    stopped = {node: list(codes) for node, codes in journals.stopped.items()}
    members: dict[str, object] = {"stopped": stopped}
    if request.requests is not None:
        context.progress.stage("writing requests")
        with NewFile(request.requests) as file:
            counts["requests"] = write_lines(writer.requests(options, store), file)
            members["requests_file"] = str(file.publish().path)
    result = RunResult(
        outcome="found" if stopped else "ok", dialect=dialect.info.name, counts=counts, namespaces=done.namespaces,
        written=written, members=members,
    )  # fmt: skip
    return record_run(store, context, with_reduction(result, done))


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """The options as parsed by the dialect, the file of requests, and the file for answers.

    All answers together have at most `most_lines` lines.
    Raises: UsageError OUT_EXISTS, OUT_IS_FOLDER, OUT_NAME, MANIFEST_REFUSED; FaultError OUT_NOT_WRITABLE.
    """

    options: object
    requests: Path
    out: Path
    most_lines: int = ANSWER_LINES

    def __post_init__(self) -> None:
        """Check that the file does not exist and can be written, and that its manifest replaces none but its own."""
        check_new(self.out)


def answer(store: TableStore, dialect: Dialect, request: AnswerRequest, context: RunContext) -> Report:
    """Answer the requests of a file from local journals, in its order. No table changes.

    The manifest appears right before the file, as in `export`.
    Raises: UsageError and FaultError as `lake.check_there`; UsageError OUT_EXISTS (a file appeared meanwhile);
        FaultError OUT_NOT_WRITABLE.
    """
    lake.check_there(store)
    writer = writer_of(dialect, request.options)
    with NewFile(request.out) as file, SparkJobs(context.progress) as jobs:
        found = writer.answers(request.options, store, jobs, str(request.requests), request.most_lines)
        context.progress.stage("writing answers")
        answered = write_lines(found.frames, file)
        written, _ = publish_with_manifest(
            file, lambda: context.faults.reach("sync.manifest"),
            dialect=dialect.info.name, records=found.counts["lines"],
        )  # fmt: skip
    counts: Mapping[str, int] = {"answered": answered, **found.counts}
    members = {
        "refused_nodes": dict(found.refused), "refused_past_limit": found.past_limit,
        "answers_file": str(written.path),
    }  # fmt: skip
    return context.report(store.location.describe(), counts=counts, members=members)


def writer_of(dialect: Dialect, options: object | None) -> WritesJournals:
    """Return the writer of local journals. Raises: UsageError NODES_MISSING."""
    writer = journal_writer(dialect, options)
    if writer is None:
        raise nodes_missing()
    return writer


def nodes_missing() -> UsageError:
    """Return the error of a `sync` with neither local nodes nor another lake."""
    return UsageError(
        "NODES_MISSING", "sync needs local nodes with their connections, or another lake",
        "add --nodes FILE, or --from LAKE",
    )  # fmt: skip

"""`gc`: removes records that no longer affect a result, after a proof that no result changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from strandline.contracts.shared_tables import GC_RUNS
from strandline.core.errors import FaultError, UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.pruning import Prunes
from strandline.pipelines import archive, gc_rounds, gc_runs, named_namespaces, prune_plans
from strandline.pipelines.gc_rounds import CollectRequest, Done
from strandline.pipelines.gc_upkeep import Upkeep, UpkeepResult, keep_up
from strandline.pipelines.named_namespaces import Named
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.store import TableStore
from strandline.tables.written import add_written

ROUNDS: Final = 10


@dataclass(frozen=True, slots=True)
class GcRequest(CollectRequest):
    """The arguments of `gc`: those of a round, the folder of the archive (None: none), and the upkeep of tables.

    Raises: UsageError ARCHIVE_NOT_A_FOLDER.
    """

    archive: Path | None = None
    upkeep: Upkeep = field(default_factory=Upkeep)

    def __post_init__(self) -> None:
        """Check the folder."""
        if self.archive is not None:
            archive.check_folder(self.archive)


def run(store: TableStore, dialects: Iterable[Dialect], request: GcRequest, context: RunContext) -> Report:
    """Remove records that no longer affect a result from the record tables; with `what_if` only report them.

    The named namespaces are looked up first, once. Then:

    1. Rows that `pruned_record` lists are deleted: a killed run left them, or an ingest that ran during a collection.
    2. Each namespace is planned and its newest snapshot is judged; where it cannot be applied, a new one is taken.
    3. Two full reductions must give the same rows: `gc_run` then says PROVED.
    4. If a state of another namespace that a plan relies on has changed since, the round starts again at step 2.
       Otherwise one append to `pruned_record` is the moment of pruning, for all namespaces.
    5. The rows are deleted from the record tables, and `gc_run` says DONE.

    If requested, journals are archived before step 1, and tables are compacted and vacuumed after step 5. `what_if`
    does neither.

    `counts` has `prunable`, `pruned`, `bytes`, `refused` (namespaces), `finished` (rows of 1), `erased` (of `pruned`,
    those whose row stays without its body) and `still_shown` (places that show an erased body: forks, rejected copies),
    `archived` and `unarchived` (journals; those that fork), `compacted_files`, `written_files` and `removed_files`.
    Members: `what_if`, `collections` (the first 1000 rows of `gc_run`), `holds` (by dialect and rule, how many records
    stay), `differences` (some rows that a failed proof found, of `differences_total`), `behind` (reducers for which no
    file was removed) and, if there are any, `left_to_catalog` (tables that only their catalog compacts and vacuums). A
    refused namespace, a reducer that is behind, and a table left to its catalog end the run with exit code 1.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, CONTRACT_OLDER, TABLE_MISSING, NAMESPACE_UNKNOWN,
    NAMESPACE_AMBIGUOUS, DIALECTS_DIFFER, OPTION_ALONE (a namespace that keeps its records, without `erase`),
    TABLE_APPEND_ONLY; FaultError WRITE_CONFLICT, GC_LOST_RACES, OUT_NOT_WRITABLE, ARCHIVE_DAMAGED.
    """
    lake.check_there(store)
    every = tuple(dialects)
    pairs = prune_plans.pruning_dialects(every, request)
    asked = request.dialects or tuple(each.info.name for each in every)
    gc_runs.check_tables(store, pairs)
    names = named_namespaces.named(store, every, request, context)
    _check_erasable(every, request, names)
    done = Done()
    asked_for = tuple(each for each in every if each.info.name in asked)
    _archive(store, asked_for, request, names, context, done)
    if not request.what_if:
        others = tuple(pair for pair in prune_plans.every_pruning(every) if pair[0].info.name in asked)
        with SparkJobs(context.progress) as jobs:
            done.counts["finished"], written = gc_runs.finish(store, others, context, jobs)
        add_written(done.written, written)
    _collect(store, pairs, request, names, context, done)
    kept = _keep_up(store, asked_for, request, context, done)
    done.holds |= gc_runs.kept_by_others(store, every, pairs, request.dialects)
    is_found = done.counts["refused"] or kept.behind or kept.left
    result = RunResult(
        outcome="found" if is_found else "ok", counts=done.counts, namespaces=done.namespaces,
        read_versions=done.read, written=done.written,
        members={
            "what_if": request.what_if, "skip_window": request.skip_window, "collections": done.rows,
            "holds": done.holds, "differences": done.differences,
            "differences_total": done.differences_total, "behind": kept.behind,
            **({"left_to_catalog": sorted(kept.left)} if kept.left else {}),
        },
    )  # fmt: skip
    return record_run(store, context, result)


def _check_erasable(dialects: Iterable[Dialect], request: GcRequest, names: Named) -> None:
    """Check that chosen namespaces which keep their records may be erased. Raises: UsageError OPTION_ALONE."""
    for info in (each.info for each in dialects):
        chosen = names.chosen.get(info.name)
        if chosen and info.erasable is not None and info.name not in request.erase:
            raise UsageError(
                "OPTION_ALONE",
                f"{chosen[0]} keeps its records: of the dialect {info.name} gc can only erase a part of them.",
                f"Add --erase {info.name}, or leave out the namespace.",
            )


def _archive(
    store: TableStore,
    dialects: Iterable[Dialect],
    request: GcRequest,
    names: Named,
    context: RunContext,
    done: Done,
) -> None:
    """Write the exact files of journals, if a folder is given."""
    if request.archive is None or request.what_if:
        return
    with SparkJobs(context.progress) as jobs:
        done.counts["archived"], done.counts["unarchived"] = archive.archive(
            store, dialects, names.chosen, request.archive, context, jobs
        )


def _collect(
    store: TableStore,
    pairs: Sequence[tuple[Dialect, Prunes]],
    request: GcRequest,
    names: Named,
    context: RunContext,
    done: Done,
) -> None:
    """Plan and prune; repeat while another collection committed first. Raises: FaultError GC_LOST_RACES."""
    last = 0
    for _ in range(ROUNDS):
        used = gc_rounds.collect(store, pairs, request, names, context, done, last)
        if used is None:
            return
        last = used
    raise FaultError(
        "GC_LOST_RACES",
        f"Other collections were faster {ROUNDS} times; this run pruned nothing.",
        "Run `strandline gc` again when no other collection is running.",
    )


def _keep_up(
    store: TableStore, dialects: Sequence[Dialect], request: GcRequest, context: RunContext, done: Done
) -> UpkeepResult:
    """Compact tables and remove files if requested; return what was done, and what was not."""
    if request.what_if:
        return UpkeepResult()
    work_bytes = sum(store.stored_bytes(each.info.record_table) for each in dialects)
    with store.sized(work_bytes), SparkJobs(context.progress) as jobs:
        kept = keep_up(store, dialects, request.upkeep, context, jobs)
        done.counts |= kept.counts
        add_written(done.written, kept.written)
        if GC_RUNS in kept.written and done.rows:
            done.rows = gc_runs.shown(gc_runs.of_run(store))
    return kept

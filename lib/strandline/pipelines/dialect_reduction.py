"""One run's reduction of one dialect: what must be reduced, and again if other runs wrote the same states."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame

from strandline.core.errors import FaultError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.reduction import ReduceScope
from strandline.pipelines.changes import (
    advance_reduced_version,
    changes_since,
    has_stale_states,
)
from strandline.pipelines.rebuild_diff import differences
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.reduce_result import ReduceResult
from strandline.pipelines.reducer_options import ReducerOptions
from strandline.pipelines.reduction_writer import ReductionWriter
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake, reduced_versions
from strandline.tables.reduced_versions import reduced_before, was_recreated
from strandline.tables.store import TableStore

ROUNDS: Final = 5
"""How often a run reduces while others reduce the same namespaces. It ends as soon as none of them was in between."""


class DialectReduction:
    """One run's reduction of one dialect."""

    def __init__(
        self, store: TableStore, dialect: Dialect, request: ReduceRequest, resolved: ReducerOptions,
        context: RunContext, jobs: SparkJobs, done: ReduceResult,
    ) -> None:  # fmt: skip
        self._store = store
        self._dialect = dialect
        self._table = dialect.info.record_table
        self._request = request
        self._resolved = resolved
        self._context = context
        self._jobs = jobs
        self._done = done

    def run(self) -> None:
        """Reduce, and everything once more if another run wrote the same states at the same time.

        Raises: FaultError WRITE_CONFLICT.
        """
        is_overtaken = deletes_strays = False
        for _ in range(ROUNDS):
            # Made first: what others write from now on, it finds.
            writer = ReductionWriter(self._store, self._dialect, self._context, self._jobs, self._done)
            if self._reduce(writer, whole=is_overtaken, deletes_strays=deletes_strays):
                return
            is_overtaken, deletes_strays = writer.is_overtaken, deletes_strays or writer.deletes_strays
            self._context.progress.note(
                f"another run reduced {self._table} at the same time: it is reduced again"
            )
        raise FaultError(
            "WRITE_CONFLICT",
            f"Other runs reduced {self._table} at the same time, {ROUNDS} times in a row.",
            "Run `strandline reduce --full` when no other command reduces: until then states may lack records.",
        )

    def _reduce(self, writer: ReductionWriter, *, whole: bool, deletes_strays: bool) -> bool:
        """Reduce once; `whole`: everything, `deletes_strays`: and delete rows of records that are gone.

        Return False if another run wrote the same states meanwhile.
        """
        store, dialect, request, jobs, done = (
            self._store, self._dialect, self._request, self._jobs, self._done
        )  # fmt: skip
        table, context = self._table, self._context
        # In this order: what another run reduces in between is no newer than the version.
        previous, records = reduced_before(store, dialect.info.name)
        done.read_versions[table] = version = store.version(table)
        scope = self._scope(previous, version)
        done.read_versions.update(scope.side_versions)
        context.progress.stage(f"reducing {table}")
        if previous is not None and deletes_strays:
            self._write_all(writer, scope, previous)
        elif previous is None or whole:
            # Another first reduction may have read the records before a RESTORE, and no state says what came before.
            writer.deletes_strays = writer.deletes_strays or previous is None
            # A first reduction that was killed may have left rows of records that are gone now.
            is_left = previous is None and store.begin_repair(dialect.info.reduced_tables)
            writer.write(dialect.reduce(None, store, jobs, scope), replaces_all=is_left or deletes_strays)
        elif reason := self._why_all(previous, version):
            context.progress.note(f"{reason}: everything is reduced")
            self._write_all(writer, scope, previous)
            return not writer.is_overtaken
        else:
            self._reduce_new(writer, scope, previous, records)
        if request.full and previous is not None:
            rebuilt = dialect.reduce(None, store, jobs, replace(scope, full=True))
            writer.note_findings(rebuilt)
            differing = differences(store, dialect, rebuilt)
            if differing and writer.others_wrote_rows():
                # They may be newer, not different.
                return False
            if differing:
                done.differences.update(differing)
                writer.write_all(rebuilt)
        return not writer.is_overtaken

    def _reduce_new(self, writer: ReductionWriter, scope: ReduceScope, previous: int, records: int) -> None:
        """Reduce the records since `previous`, and what was refused; without any, look for what a killed run left."""
        store, dialect, version = self._store, self._dialect, scope.version
        # A changed option, or what was put right in another table, asks for a reduction without new records, too.
        is_asked = bool(dialect.info.sticky_options or scope.retry_namespaces)
        is_read = version > previous or is_asked
        changes, count = self._new_records(previous, version, records) if is_read else (None, 0)
        # If Delta does not have the changes, records may have gone, too.
        is_lost = is_read and changes is None and not count
        if is_lost or (not count and self._begin_repair()):
            self._write_all(writer, scope, previous)
            return
        is_counted = False
        if count or is_asked:
            is_shown = self._write_new(writer, scope, changes)
            is_counted = bool(count) and is_shown
        if not is_counted and version > previous and store.may_have_added(self._table, previous, version):
            # Somebody changed records: else `status` would ask for a reduction for ever.
            advance_reduced_version(store, dialect, previous, version, self._jobs)

    def _new_records(self, previous: int, version: int, records: int) -> tuple[DataFrame | None, int]:
        """Return the result of `changes_since`, and report the number."""
        changes, count = changes_since(
            self._store, self._dialect, previous, version, records, self._context, self._jobs
        )
        self._done.counts["new_records"] += count
        self._context.progress.stage(f"reducing {count:,} new records of {self._table}")
        return changes, count

    def _begin_repair(self) -> bool:
        """Begin to repair the reduced tables if a killed run left older rows there; return whether."""
        info = self._dialect.info
        if not self._store.begin_repair(info.reduced_tables, still=True):
            return False
        self._context.progress.note(
            f"a run that was killed left older rows of {info.name}: everything is reduced"
        )
        return True

    def _write_new(self, writer: ReductionWriter, scope: ReduceScope, changes: DataFrame | None) -> bool:
        """Reduce the changes; return whether a state or a refusal shows it.

        Records that came back leave a state as it was: they must not be counted once more.
        """
        reduction = self._dialect.reduce(changes, self._store, self._jobs, scope)
        writer.write(reduction)
        return writer.has_changed_states or writer.is_overtaken or reduction.refused is not None

    def _why_all(self, previous: int, version: int) -> str | None:
        """Why the states must all be written; None: the records since `previous` are enough."""
        if self._dialect.info.name in self._resolved.retry_all:
            return f"an earlier run refused too many namespaces of {self._dialect.info.name} to name them all"
        if was_recreated(self._store, self._table, previous, version):
            return f"a table of {self._dialect.info.name} was recreated"
        if has_stale_states(self._store, self._dialect, previous, self._jobs):
            return f"a run that was killed left older states of {self._table}"
        if version > previous and self._store.was_replaced(self._table, previous, version):
            return f"the rows of {self._table} were restored or replaced"
        return None

    def _write_all(self, writer: ReductionWriter, scope: ReduceScope, previous: int) -> None:
        """Reduce everything, delete rows of records that are gone, and note in the states that this is done.

        A state that does not change keeps its `reduced_version`: else each later run would do all of this again, until
        records come.
        """
        store, dialect = self._store, self._dialect
        for table in dialect.info.reduced_tables:
            store.note_repaired(table, store.version(table))
        writer.write_all(dialect.reduce(None, store, self._jobs, scope))
        if was_recreated(store, self._table, previous, scope.version):
            reduced_versions.restart(store, dialect.info.name, scope.version)
            return
        if writer.is_overtaken:
            return
        named, _ = reduced_before(store, dialect.info.name)
        # Less than before, if the state that named it is gone.
        if named is not None and named <= previous and named < scope.version:
            advance_reduced_version(store, dialect, named, scope.version, self._jobs)
            # A state that came in between, of an older version, lies below the new one: no later run looks for it.
            writer.is_overtaken = writer.others_reduced()

    def _scope(self, previous: int | None, version: int) -> ReduceScope:
        store, info, request, resolved = self._store, self._dialect.info, self._request, self._resolved
        return ReduceScope(
            previous_version=previous, version=version, run_id=self._context.run_id,
            side_versions={each: store.version(each) for each in info.side_tables},
            reducer_options=resolved.values.get(info.name), walk_entries=request.walk_entries,
            retry_namespaces=resolved.retry_namespaces.get(info.name, ()),
            lake_options=lake.options_of(store, info), options=request.options.get(info.name),
        )  # fmt: skip

"""Writes the rows of a reduction, `namespace_state` last, and finds other runs that wrote the same states meanwhile."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.reduction import InMemory, Reduction
from strandline.pipelines.rebuild_diff import delete_strays, some_namespaces, with_nulls
from strandline.pipelines.reduce_result import ReduceResult
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.merges_at_once import MergesAtOnce
from strandline.tables.reduced_versions import is_committed_by_others, updated_by_others
from strandline.tables.store import TableStore
from strandline.tables.written import Written, add_written


class ReductionWriter:
    """Writes the reductions of one dialect. It is made before their input is read.

    `is_overtaken`: another run wrote a state of the same namespaces since then. Of two such runs the one that writes
    its states last finds those of the other. Their rows may be mixed, and those of the older records may lie on top.
    With `deletes_strays` a repetition must delete rows that no record gives, too: this writer did, or it is the first,
    or the record table was restored, replaced or made anew after it was read, and another run may have named a newer
    version of it since. Or a reduced table was made anew.
    """

    def __init__(
        self, store: TableStore, dialect: Dialect, context: RunContext, jobs: SparkJobs, done: ReduceResult
    ) -> None:  # fmt: skip
        self.is_overtaken = False
        self.deletes_strays = False
        self.has_changed_states = False
        self._since = store.version(STATES)
        self._store = store
        self._dialect = dialect
        self._context = context
        self._jobs = jobs
        self._done = done

    def others_wrote_states(self) -> bool:
        """Return whether another run wrote states since this writer was made."""
        return self._store.is_merged_by_others(STATES, self._store.run_id, self._since)

    def others_reduced(self) -> bool:
        """Return whether another run wrote states of this dialect since this writer was made."""
        return self.others_wrote_states() and self._jobs.has_rows(
            self._new_states(self._store.version(STATES))
        )

    def others_wrote_rows(self) -> bool:
        """Return whether another run wrote rows of this dialect since this writer was made, as far as states tell."""
        return self.others_reduced() or self._is_touched()

    def write_all(self, rebuilt: Reduction) -> None:
        """Write the rows of a full reduction, and delete stored rows that it does not have."""
        self.write(rebuilt, replaces_all=True)

    def write(self, reduction: Reduction, *, replaces_all: bool = False) -> None:
        """Write one MERGE per table: several at once, and the states after all others.

        With `replaces_all` stored rows that the reduction does not have are deleted, unless another run has written
        states meanwhile: these rows may be newer. If rows were deleted, or changed without a state, the states get an
        empty commit: another run, which wrote newer rows and no states yet, finds it.
        """
        store, jobs, done = self._store, self._jobs, self._done
        self.deletes_strays = self.deletes_strays or replaces_all
        self.note_findings(reduction)
        states = with_nulls(store, reduction.states)
        known = reduction.in_memory
        if known is None:
            states = jobs.checkpoint(states, "states")
            found = jobs.row(
                states.agg(F.count(F.lit(1)).alias("rows"), F.collect_set("bucket").alias("buckets"))
            )
            known = InMemory(found["rows"], tuple(sorted(found["buckets"])))
        if not known.namespaces and not replaces_all:
            return
        done.namespaces += known.namespaces
        done.counts["reduced"] += known.namespaces
        written = self._write_tables(reduction, known.buckets) if known.namespaces else {}
        strays: dict[str, Written] = {}
        if replaces_all:
            self.is_overtaken = self.is_overtaken or self.others_reduced()
            if not self.is_overtaken:
                strays = delete_strays(store, self._dialect, reduction, jobs)
        add_written(written, strays)
        if strays:
            # Before the states: a run that writes its own after this commit finds it, this one finds those before it.
            add_written(written, {STATES: store.touch(STATES)})
        add_written(done.written, written)
        self._context.faults.reach("reduce.before_state")
        self._context.progress.stage(f"writing {STATES}")
        # Computed as late as possible: from this time views show the state. No state depends on it.
        rows = states.withColumn("reduced_at", F.current_timestamp())
        in_memory = reduction.in_memory is not None
        of_states = store.replace(STATES, rows, known.buckets or (0,), in_memory=in_memory)
        self.has_changed_states = self.has_changed_states or of_states.is_change
        if not strays and not of_states.is_change and any(each.is_change for each in written.values()):
            of_states = store.touch(STATES)
        done.add(STATES, of_states)
        self._look_for_others(states, of_states)

    def _write_tables(self, reduction: Reduction, buckets: tuple[int, ...]) -> dict[str, Written]:
        store, jobs = self._store, self._jobs
        in_memory = reduction.in_memory is not None
        # Rows of refused namespaces stay: they can be in other buckets, in which a MERGE would not see them.
        refused = reduction.refused
        tables = {
            table: rows if refused is None else refused.others(rows)
            for table, rows in reduction.tables.items()
        }
        # A table without files has no row to delete: this check is cheaper than a query.
        deletes = {table: keys for table, keys in reduction.deletes.items() if store.stored_bytes(table)}
        keys_of = "keys of {}".format
        has_rows = jobs.asking(
            ({} if in_memory else tables) | {keys_of(table): keys for table, keys in deletes.items()}
        )
        with MergesAtOnce(store) as merges:
            for table, rows in tables.items():
                self._context.progress.stage(f"writing {table}")
                gone = deletes[table] if table in deletes and has_rows(keys_of(table)) else None
                if gone is not None or in_memory or has_rows(table):
                    bounds = reduction.bounds.get(table, {})
                    merges.replace(table, rows, buckets, gone, bounds, in_memory=in_memory)
            if merges.started:
                self._context.progress.stage(f"writing {', '.join(merges.started)}")
        for table in reduction.tables:
            self._context.faults.reach(f"reduce.{table}")
        return {table: merges.written[table] for table in reduction.tables if table in merges.written}

    def note_findings(self, reduction: Reduction) -> None:
        """Note the refused namespaces, and some whose derived columns are damaged."""
        self._done.note_refused(self._dialect.info.name, reduction.refused)
        for table, rows in reduction.damaged.items():
            if some := some_namespaces(rows):
                self._done.damaged[table] = some

    def _look_for_others(self, states: DataFrame, written: Written) -> None:
        """Set `is_overtaken` and `deletes_strays` by what other runs have committed since this writer was made."""
        if not is_committed_by_others(self._store, self._store.run_id, self._since):
            # No state names a newer version: what became of the record table after it, the next run finds.
            return
        if self._is_replaced() or self._is_restarted():
            self.is_overtaken = self.deletes_strays = True
        self.is_overtaken = self.is_overtaken or self._overlaps(states, written)

    def _is_replaced(self) -> bool:
        """Return whether the record table is not a continuation of the version that was reduced."""
        store, table = self._store, self._dialect.info.record_table
        version, current = self._done.read_versions[table], store.version(table)
        return current < version or store.was_replaced(table, version, current)

    def _is_restarted(self) -> bool:
        """Return whether `init` made a table of the dialect anew since this writer was made.

        It asks for a reduction from nothing by the version 0 in all states, which a state of this run hides.
        """
        return any(
            self._jobs.has_rows(
                self._store.read_version(STATES, version).where(
                    (F.col("dialect") == self._dialect.info.name) & (F.col("reduced_version") == 0)
                )
            )
            for version in updated_by_others(self._store, self._store.run_id, self._since)
        )

    def _overlaps(self, states: DataFrame, written: Written) -> bool:
        """Return whether another run wrote one of these states after this writer was made and before `written`.

        With `deletes_strays` any state of the dialect counts: what this run did not write of it, it may have deleted,
        or should have.
        """
        if not self.others_wrote_states():
            return False
        if self._is_touched():
            return True
        # Those that this run replaced are in the version before.
        store, last = self._store, written.version
        if written.is_change:
            last = store.merge_of(STATES, store.run_id, written).version - 1
        new = self._new_states(last)
        if not self.deletes_strays:
            new = new.join(states.select("namespace"), "namespace", "left_semi")
        return self._jobs.has_rows(new)

    def _is_touched(self) -> bool:
        """Return whether another run committed nothing to the states, for rows of other tables: see `write`."""
        return self._store.is_touched_by_others(STATES, self._store.run_id, self._since)

    def _new_states(self, last: int) -> DataFrame:
        """Return the states of the dialect at a version that other runs wrote after this writer was made."""
        store, key = self._store, ["namespace", "run_id"]
        before = store.read_version(STATES, self._since).select(*key)
        is_other = (F.col("dialect") == self._dialect.info.name) & (F.col("run_id") != store.run_id)
        others = store.read_version(STATES, last).where(is_other)
        return others.select(*key).join(before, key, "left_anti")

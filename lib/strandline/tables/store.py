"""All writes to the tables of one lake: MERGE by contract, and the rows of `run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Final, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.merge import (
    DELETED,
    NO_BOUNDS,
    continue_merge_sql,
    delete_merge_sql,
    erase_merge_sql,
    insert_only_merge_sql,
    replace_merge_sql,
    slot_merge_sql,
    upsert_merge_sql,
)
from strandline.contracts.model import Contract
from strandline.contracts.shared_tables import RUNS
from strandline.frames.layout import laid_out
from strandline.frames.one_task import ONE_TASK
from strandline.frames.provenance import with_run
from strandline.tables.appends import append
from strandline.tables.commits import REPARTITION, Retry, session_settings, transaction, without_transaction
from strandline.tables.data_files import ROWS_PER_FILE, layout_settings
from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from strandline.tables.recorded_runs import unrecorded
from strandline.tables.work_settings import SMALL_WORK_BYTES
from strandline.tables.written import Written

OPEN_FILES: Final = "spark.sql.maxConcurrentOutputFileWriters"
BUCKETS_PER_TASK: Final = 4
MATERIALIZE: Final = "spark.databricks.delta.merge.materializeSource"
LAST_COMMIT: Final = "spark.databricks.delta.lastCommitVersionInSession"
"""Delta sets it after each commit through the same Spark session, not after commits of other writers."""

_COUNTS: Final = ("num_inserted_rows", "num_updated_rows", "num_deleted_rows")

Bounds = Mapping[str, tuple[int, int]]
T = TypeVar("T")


class TableStore(TableReads):
    """The tables of one lake, read and written through one Spark session.

    Every commit names `run_id` and is idempotent. `attempt` is not empty if another process can have the
    same run id: its commits are not those of this one, except the row in `run`.
    """

    def __init__(
        self,
        spark: SparkSession,
        location: Location,
        retry: Retry,
        *,
        run_id: str,
        is_trusted: bool = True,
        attempt: str = "",
    ) -> None:
        super().__init__(spark, location, is_trusted=is_trusted)
        self.run_id = run_id
        self.attempt = attempt
        self._retry = retry
        self._statements = 0
        self._left_behind: set[str] = set()

    def of_run(self, run_id: str, attempt: str = "") -> TableStore:
        """Return the same tables, for another run."""
        made = TableStore(self.spark, self.location, self._retry, run_id=run_id, attempt=attempt)
        made.as_reduced = self.as_reduced
        return made

    def at(self, location: Location) -> TableStore:
        """Return the tables of another lake, for the same run."""
        return TableStore(self.spark, location, self._retry, run_id=self.run_id, is_trusted=False)

    def through(self, session: SparkSession) -> TableStore:
        """Return the same tables for the same run, for a statement through another session."""
        self._statements += 1
        through = copy(self)
        # No statement of both has the same transaction id: Delta would skip the later one as a repetition.
        through.attempt = f"{self.attempt}{self._statements}."
        through.spark = session
        return through

    def merge_new(
        self,
        table: str,
        rows: DataFrame,
        buckets: tuple[int, ...],
        bounds: Bounds,
        *,
        presorted: bool = False,
        once: bool = False,
    ) -> Written:
        """Insert the rows whose key is absent, with run and write time; nothing else changes.

        If no stored row can have one of the keys, rows are written in their layout: sorted, and a large bucket by
        several tasks. `presorted` rows are written by the tasks that have them. `once` commits without rows, too.
        """
        described = contract(table)
        sql = insert_only_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets, bounds=bounds
        )
        rows = with_run(rows, described, self.run_id)
        overlapping = self.has_rows_within(table, buckets, bounds)
        settings = {REPARTITION: str(overlapping).lower()}
        if presorted:
            # Without it the writer sorts by bucket, although each task has only a few buckets.
            settings[OPEN_FILES] = str(BUCKETS_PER_TASK)
        return self._merge(described, sql, rows, buckets, settings, lay_out=not presorted, once=once)

    def append_at_tip(
        self, table: str, rows: DataFrame, buckets: tuple[int, ...], bounds: tuple[int, int]
    ) -> Written:
        """Append to journals: all rows of a namespace, or none if it has grown since its tip was read.

        Reads: the columns of the table and `next_<layout column>`, see `contracts.merge.continue_merge_sql`. The rows
        of a bucket are in one task, in the write order of the table.
        """
        described = contract(table)
        sql = continue_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets, bounds=bounds
        )
        rows = with_run(rows, described, self.run_id)
        settings = {REPARTITION: "false", OPEN_FILES: str(BUCKETS_PER_TASK)}
        return self._merge(described, sql, rows, buckets, settings, lay_out=False, once=True)

    def insert_at_slot(self, table: str, rows: DataFrame, buckets: tuple[int, ...], column: str) -> Written:
        """Insert all rows of a namespace, or none if a stored one has the value of `slot` in `column`.

        Reads: the columns of the table and `slot`, see `contracts.merge.slot_merge_sql`.
        """
        described = contract(table)
        sql = slot_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets, column=column
        )
        rows = with_run(rows, described, self.run_id)
        return self._merge(described, sql, rows, buckets, {REPARTITION: "false"}, lay_out=False, once=True)

    def replace(
        self,
        table: str,
        rows: DataFrame,
        buckets: tuple[int, ...],
        deletes: DataFrame | None = None,
        bounds: Bounds = NO_BOUNDS,
        *,
        in_memory: bool = False,
    ) -> Written:
        """Replace the rows of the keys in `rows`; a row that differs only in provenance stays.

        Rows with a key in `deletes` (key columns and bucket) are deleted in the same commit. Files outside of `bounds`
        are not opened: no stored row with one of the keys can be there. Rows that the driver has (`in_memory`) are few
        and never differ: they are not laid out, nor kept between the passes of the MERGE, each one job if all is small.
        """
        described = contract(table)
        sql = replace_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets,
            deleting=deletes is not None, bounds=bounds,
        )  # fmt: skip
        settings = ROWS_PER_FILE if described.layout_column is not None else {}
        if deletes is None:
            if in_memory:
                is_small = self.stored_bytes(table) <= SMALL_WORK_BYTES
                settings = settings | {MATERIALIZE: "none"} | (ONE_TASK if is_small else {})
            return self._merge(described, sql, rows, buckets, settings, lay_out=not in_memory)
        kept = rows.select(*described.names, F.lit(False).alias(DELETED))
        keys = deletes.select(*described.partition, *described.key, F.lit(True).alias(DELETED))
        marked = kept.unionByName(keys, allowMissingColumns=True)
        return self._merge(described, sql, marked, buckets, settings, marks=(DELETED,))

    def upsert(
        self, table: str, rows: DataFrame, buckets: tuple[int, ...], *, deleting: bool = False, where: str = ""
    ) -> Written:  # fmt: skip
        """Insert absent keys, and update existing ones as the contract says, if `where` holds.

        If `deleting`, delete those marked in DELETED.
        """
        described, marks = contract(table), (DELETED,) if deleting else ()
        sql = upsert_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets, deleting=deleting,
            where=where,
        )  # fmt: skip
        return self._merge(described, sql, rows, buckets, {}, marks=marks, once=True)

    def delete(
        self, table: str, keys: DataFrame, buckets: tuple[int, ...], *, below: str | None = None
    ) -> Written:
        """Delete the rows with a key in `keys` (key columns and bucket), with `below` as `delete_merge_sql` says."""
        described = contract(table)
        sql = delete_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets, below=below
        )
        return self._merge(described, sql, keys, buckets, {}, lay_out=False)

    def erase(self, table: str, keys: DataFrame, buckets: tuple[int, ...], column: str) -> Written:
        """Set a column of the rows with a key in `keys` (key columns and bucket) to null."""
        described = contract(table)
        sql = erase_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets, column=column
        )
        return self._merge(described, sql, keys, buckets, {}, lay_out=False)

    def begin_repair(self, tables: tuple[str, ...], *, still: bool = False) -> bool:
        """Begin to repair the tables if the last other run that wrote one has no row in `run`. Return whether.

        That run was killed, or is still running. MERGEs of this run do not count: in a table of all dialects they may
        be those of another dialect. With `still` they do: a table that this run has written is repaired.

        From now on the MERGEs of this run into these tables commit even if they change nothing, so that it becomes the
        last writer, and the next run has nothing to repair. The caller must write what that run may have left.
        """
        return bool(self._begin_repair(tables, besides=None if still else self.run_id))

    def begin_repair_of(self, table: str) -> str | None:
        """Begin to repair one table, as `begin_repair` does. Return the id of the run without a row, or None."""
        return next(iter(self._begin_repair((table,), besides=self.run_id)), None)

    def _begin_repair(self, tables: tuple[str, ...], *, besides: str | None) -> set[str]:
        """Return those of the last runs to write the tables that have no row in `run`; note the tables for repair."""
        found = unrecorded(self, {self.merged_by(table, besides=besides) for table in tables} - {self.run_id})
        if found:
            self._left_behind.update(tables)
        return found

    def end_repair(self, *, besides: str | None = None) -> dict[str, Written]:
        """Commit to each table that a partial run wrote last and this run did not write, so that this run wrote last.

        Else each later run would repair them again: the partial run never gets its row in `run`. Returns the commits.
        """
        return {
            table: self.touch(table)
            for table in sorted(self._left_behind - {besides})
            if unrecorded(self, {self.merged_by(table)} - {self.run_id})
        }

    def leave_behind(self, table: str) -> None:
        """Commit a MERGE that changes nothing, of a run without a row in `run`: the next run finds a partial one."""
        self._statements += 1
        # As in `through`: Delta would skip the second such commit of a run.
        self.of_run(f"{self.run_id}-raced", f"{self.attempt}{self._statements}.").touch(table)

    def touch(self, table: str) -> Written:
        """Commit a MERGE that changes nothing: this run is then the last one that wrote the table."""
        return self.merge_new(table, self.read(table).limit(0), (0,), {}, once=True)

    def append_run(self, row: Mapping[str, object]) -> None:
        """Append the row of a run to `run`, once; missing columns are null. Raises: FaultError TABLE_DAMAGED."""
        append(self, RUNS, row, transaction(f"{self.run_id}/{RUNS}/row", 0, self.run_id))

    def repeated(self, statement: Callable[[], T], *, table: str, buckets: tuple[int, ...]) -> T:
        """Return the result of a statement, repeated after conflicts. Raises: FaultError `WRITE_CONFLICT`."""
        return self._retry.run(statement, table=table, buckets=buckets)

    def _view(self, table: str) -> str:
        return f"strandline_{table}_{self._statements}"

    def _merge(
        self, described: Contract, sql: str, rows: DataFrame, buckets: tuple[int, ...], settings: Mapping[str, str],
        *, lay_out: bool = True, marks: tuple[str, ...] = (), once: bool = False,
    ) -> Written:  # fmt: skip
        """Run a MERGE. `once`: repeated, it would do something else, so its commit carries a transaction id.

        With an id Delta commits a MERGE that changes nothing, too.
        """
        view = self._view(described.table)
        source = laid_out(rows.select(*described.names, *marks), described) if lay_out else rows
        source.createOrReplaceTempView(view)
        self._statements += 1
        once = once or described.table in self._left_behind
        app_id = f"{self.run_id}/{described.table}/{self.attempt}{self._statements}"
        named = transaction(app_id, 0, self.run_id) if once else without_transaction(self.run_id)
        statement = {**named, **layout_settings(described), **settings}
        try:
            self.spark.conf.unset(LAST_COMMIT)
            with session_settings(self.spark, statement):
                counts = self.repeated(
                    lambda: self.spark.sql(sql).collect(), table=described.table, buckets=buckets
                )
        finally:
            self.spark.catalog.dropTempView(view)
        version = self._committed(described.table)
        if not counts:
            # The first try was committed although its answer was a conflict: Delta skips the second one by its id.
            return self.merge_of(described.table, self.run_id, Written(version))
        return Written(version, *(int(counts[0][name]) for name in _COUNTS))

    def _committed(self, table: str) -> int:
        """Return the version that the last statement committed, or the table's version if it committed nothing."""
        made = self.spark.conf.get(LAST_COMMIT, None)
        return self.version(table) if made is None else int(made)

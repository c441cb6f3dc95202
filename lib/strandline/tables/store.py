"""All writes to the tables of one lake: MERGE by contract, and the rows of `run`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from pyspark.sql import DataFrame
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
from strandline.contracts.shared_tables import RUNS
from strandline.frames.one_task import ONE_TASK
from strandline.frames.provenance import with_run
from strandline.tables.appends import append
from strandline.tables.commits import REPARTITION, transaction
from strandline.tables.data_files import ROWS_PER_FILE
from strandline.tables.location import Location
from strandline.tables.repairs import TableRepairs
from strandline.tables.work_settings import SMALL_WORK_BYTES
from strandline.tables.written import Written

OPEN_FILES: Final = "spark.sql.maxConcurrentOutputFileWriters"
BUCKETS_PER_TASK: Final = 4
RACED: Final = "-raced"
"""What follows the id of a run in the id of the mark that it leaves: see `TableStore.mark_race`."""
MATERIALIZE: Final = "spark.databricks.delta.merge.materializeSource"

Bounds = Mapping[str, tuple[int, int]]


class TableStore(TableRepairs):
    """The tables of one lake, read and written through one Spark session for one run, see `TableMerges`."""

    def of_run(self, run_id: str, attempt: str = "") -> TableStore:
        """Return the same tables, for another run."""
        made = TableStore(self.spark, self.location, self._retry, run_id=run_id, attempt=attempt)
        made.as_reduced = self.as_reduced
        return made

    def at(self, location: Location) -> TableStore:
        """Return the tables of another lake, for the same run."""
        return TableStore(self.spark, location, self._retry, run_id=self.run_id, is_trusted=False)

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

    def end_repair(self, *, besides: str | None = None) -> dict[str, Written]:
        """Commit to each table that a partial run wrote last and this run did not write, so that this run wrote last.

        Else each later run would repair them again: the partial run never gets its row in `run`. Returns the commits.
        """
        return {
            table: self.touch(table)
            for table in sorted(self._commit_always - {besides})
            if self.partial_runs((table,), still=True)
        }

    def mark_race(self, table: str) -> None:
        """Commit a MERGE that changes nothing under the id of a run without a row in `run`.

        The next run takes it for a run that was killed, and repairs the table.
        """
        self._statements += 1
        # As in `through`: Delta would skip the second such commit of a run.
        self.of_run(f"{self.run_id}{RACED}", f"{self.attempt}{self._statements}.").touch(table)

    def touch(self, table: str) -> Written:
        """Commit a MERGE that changes nothing: this run is then the last one that wrote the table."""
        return self.merge_new(table, self.read(table).limit(0), (0,), {}, once=True)

    def append_run(self, row: Mapping[str, object], started_at: datetime) -> None:
        """Append the row of a run to `run`, once; missing columns are null. Raises: FaultError TABLE_DAMAGED."""
        once = transaction(f"{self.run_id}/{RUNS}/row", 0, self.run_id)
        append(self, RUNS, {**row, "started_at": started_at}, once, started_at)

"""How the MERGEs of one run are committed: laid out, with a transaction id, repeated after conflicts, counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Final, Self, TypeVar

from pyspark.sql import DataFrame, SparkSession

from strandline.contracts.model import Contract
from strandline.frames.layout import laid_out
from strandline.tables.commits import Retry, session_settings, transaction, without_transaction
from strandline.tables.data_files import layout_settings
from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from strandline.tables.written import Written

LAST_COMMIT: Final = "spark.databricks.delta.lastCommitVersionInSession"
"""Delta sets it after each commit through the same Spark session, not after commits of other writers."""

_COUNTS: Final = ("num_inserted_rows", "num_updated_rows", "num_deleted_rows")

T = TypeVar("T")


class TableMerges(TableReads):
    """The tables of one lake, with the statements of one run.

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
        self._commit_always: set[str] = set()
        """Tables into which each MERGE commits, also one that changes nothing."""
        self.repaired_versions: dict[str, int] = {}
        """By table, the version up to which this run sees, and repairs, what runs without a row in `run` left."""
        self._first_merges: dict[str, int] = {}
        """By table, the version of the first MERGE that this process committed."""

    def through(self, session: SparkSession) -> Self:
        """Return the same tables for the same run, for a statement through another session."""
        self._statements += 1
        through = copy(self)
        # No statement of both has the same transaction id: Delta would skip the later one as a repetition.
        through.attempt = f"{self.attempt}{self._statements}."
        through.spark = session
        return through

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
        once = once or described.table in self._commit_always
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
        if made is None:
            return self.version(table)
        self._first_merges.setdefault(table, int(made))
        return int(made)

"""Writes the table `quarantine`: adds rejected and waiting records, deletes resolved and old ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.reasons import rules_version
from strandline.contracts.shared_tables import QUARANTINE
from strandline.core.ids import namespace_prefixes, namespaces_named, only_one
from strandline.dialect_api.dialect import Dialect
from strandline.frames.namespaces import begins_with, first_namespaces
from strandline.frames.quarantine import FOUND, PRECEDENCE, as_quarantine, identified, with_keys_to_delete
from strandline.frames.row_rules import BREAKS_CONTRACT
from strandline.frames.union import union
from strandline.frames.verdicts import is_fixed
from strandline.kernels.codecs import FILE_UNREADABLE
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.store import TableStore
from strandline.tables.written import Written

EXAMPLES_SHOWN = 10
FIRST_RULES = 1
"""The first version of the rules: no row was judged by an older one."""
WITHOUT_CONTENT = ("PATH_REFUSED", FILE_UNREADABLE, BREAKS_CONTRACT)
"""Reasons of rows without the bytes of a record: these cannot be judged again."""


class QuarantineWriter:
    """Writes quarantine rows of one dialect in one run. `written` sums up its commits; None without one."""

    def __init__(self, store: TableStore, dialect: Dialect, context: RunContext, jobs: SparkJobs) -> None:
        self._store = store
        self._dialect = dialect
        self._context = context
        self._jobs = jobs
        self.written: Written | None = None

    def write(
        self, found: Sequence[DataFrame], *, resolved: DataFrame | None = None, judged: DataFrame | None = None
    ) -> tuple[DataFrame | None, dict[str, int], dict[str, dict[str, str]]]:  # fmt: skip
        """Write findings and, in the same commit, delete rows by their keys (quarantine_id, bucket).

        Rows that are `resolved` go, and rows that were `judged` again, unless they were rejected in the same way.
        Return the rows of the findings with ids, counts by reason, and an example of each frequent reason.
        """
        if not found:
            self.delete(resolved)
            self.delete(judged)
            return None, {}, {}
        named = identified(union(found), dialect=self._dialect.info.name, buckets=self._store.buckets)
        rows = self._jobs.checkpoint(with_keys_to_delete(named, resolved, judged), QUARANTINE)
        by_reason, deleted_buckets = _by_reason(rows)
        added_buckets = {bucket for row in by_reason for bucket in row["buckets"]}
        buckets = tuple(sorted(added_buckets | deleted_buckets))
        if added_buckets:
            shaped = as_quarantine(
                rows, dialect=self._dialect.info.name, rules_version=rules_version(), run_id=self._context.run_id,
                seen_at=F.lit(self._context.started_at),
            )  # fmt: skip
            self._context.progress.stage("writing rejected and waiting records to quarantine")
            self._add(self._store.upsert(QUARANTINE, shaped, buckets, deleting=bool(deleted_buckets)))
        elif deleted_buckets:
            keys = rows.select("quarantine_id", "bucket").distinct()
            self._add(self._store.delete(QUARANTINE, keys, buckets))
        frequent = sorted(by_reason, key=lambda row: (-row["rows"], row["reason"]))[:EXAMPLES_SHOWN]
        examples = {row["reason"]: row["example"].asDict() for row in frequent}
        counts = {row["reason"]: row["rows"] for row in by_reason}
        return rows.where(F.col(PRECEDENCE) == FOUND), counts, examples

    def delete(self, keys: DataFrame | None) -> None:
        """Delete the rows with these keys: quarantine_id, bucket."""
        if keys is not None:
            self._delete(keys.select("quarantine_id", "bucket"), "resolved rows")

    def _delete(self, keys: DataFrame, name: str, below: str | None = None) -> int:
        """Delete the rows with these keys, `below` as in `TableStore.delete`. Return their number."""
        keys = self._jobs.checkpoint(keys, name)
        buckets = self._jobs.row(keys.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
        if not buckets:
            return 0
        written = self._store.delete(QUARANTINE, keys, tuple(buckets), below=below)
        self._add(written)
        return written.deleted

    def _add(self, written: Written) -> None:
        self.written = written if self.written is None else self.written + written

    def judged_again(self, *, reason: str | None, namespace: str | None) -> DataFrame | None:
        """Return the rows of the dialect that can be judged again, checkpointed; None without any.

        They were rejected, or they met an internal error and wait for the rules that fix it.
        """
        rows = self._replayable()
        if reason is not None:
            rows = rows.where(F.array_contains("reasons", reason))
        if namespace is not None:
            rows = rows.where(F.col("namespace").isin(*self._named(rows, namespace)))
        found = self._jobs.checkpoint(rows, "rejected rows")
        return found if self._jobs.has_rows(found) else None

    def judged_by_older_rules(self) -> int:
        """Return how many rows of the dialect older rules judged: this version may judge them differently."""
        if rules_version() == FIRST_RULES:
            return 0
        older = self._replayable().where(F.col("rules_version") < rules_version())
        rows: int = self._jobs.row(older.agg(F.count(F.lit(1)).alias("rows")))["rows"]
        return rows

    def _named(self, rows: DataFrame, given: str) -> Sequence[str]:
        """Return the namespaces of these rows that an operator's text names, or the one of which it is a prefix.

        Raises: UsageError NAMESPACE_AMBIGUOUS.
        """
        named = namespaces_named(given)
        prefixes = namespace_prefixes(given)
        if not prefixes or self._jobs.has_rows(rows.where(F.col("namespace").isin(*named))):
            return named
        begun = first_namespaces(begins_with(rows, prefixes).select("namespace"))
        found = self._jobs.row(begun.agg(F.sort_array(F.collect_list("namespace")).alias("names")))["names"]
        one = only_one(given, found)
        return named if one is None else (one,)

    def replayed(self, replay: DataFrame) -> Mapping[str, Mapping[str, int]]:
        """Return, by previous reasons, how many rows were judged again and how many are unchanged."""
        after = self._store.read(QUARANTINE).select("quarantine_id", F.lit(True).alias("stays"))
        counted = (
            replay.join(after, "quarantine_id", "left")
            .groupBy(F.array_join("reasons", ",").alias("reasons"))
            .agg(F.count(F.lit(1)).alias("rows"), F.count("stays").alias("unchanged"))
        )
        by_reasons = {
            row["reasons"]: {"rows": row["rows"], "unchanged": row["unchanged"]} for row in counted.collect()
        }
        return dict(sorted(by_reasons.items()))

    def drop_before(self, day: datetime) -> int:
        """Delete the rejected rows last seen before `day` (UTC). Return their number.

        A row that another run sees again meanwhile stays.
        """
        old = self._rejected().where(F.col("last_seen") < F.lit(day))
        keys = old.select("quarantine_id", "bucket", F.lit(day).alias("last_seen"))
        return self._delete(keys, "old rows", below="last_seen")

    def _rejected(self) -> DataFrame:
        return self._rows().where("status = 'rejected'")

    def _replayable(self) -> DataFrame:
        return self._rows().where(
            ((F.col("status") == "rejected") | is_fixed(rules_version()))
            & (F.col("scope") == "record")
            & F.col("raw_whole")
            & ~F.arrays_overlap("reasons", F.array(*map(F.lit, WITHOUT_CONTENT)))
        )

    def _rows(self) -> DataFrame:
        return self._store.read(QUARANTINE).where(F.col("dialect") == self._dialect.info.name)


def _by_reason(rows: DataFrame) -> tuple[list[Row], set[int]]:
    """Return the number of records, an example and the buckets of each reason, and the buckets of keys to delete."""
    example = F.min(F.struct(F.lower(F.hex("quarantine_id")).alias("quarantine_id"), "evidence"))
    counted = (
        rows.select(F.explode_outer("reasons").alias("reason"), "quarantine_id", "evidence", "bucket")
        .groupBy("reason")
        .agg(
            F.count(F.lit(1)).alias("rows"),
            example.alias("example"),
            F.collect_set("bucket").alias("buckets"),
        )
    )
    of_keys, of_reasons = set[int](), list[Row]()
    for row in counted.collect():
        if row["reason"] is None:
            of_keys.update(row["buckets"])
        else:
            of_reasons.append(row)
    # There are few reasons: Spark would sample the rows before it sorts them.
    return sorted(of_reasons, key=lambda row: row["reason"]), of_keys

"""The entries of logs that are stored, and the skeletons and carries of pruned ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import EQUIVOCATIONS, SNAPSHOTS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.removed import removed_records
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.spark import dag, logs
from strandline.dialects.ipfslog.spark.hints import Hint, unhinted
from strandline.dialects.ipfslog.spark.tables import ENTRIES
from strandline.dialects.ipfslog.spark.write_lists import WriteLists
from strandline.dialects.ipfslog.types import DIALECT
from strandline.frames.buckets import in_buckets
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches
from strandline.frames.snapshots import applied_carries

NODE_COLUMNS = (*dag.NODE, "key", "variant", "next")


@dataclass(frozen=True, slots=True)
class Pruned:
    """The rows of `pruned_record` of logs with pruned entries, and the carries of their applied snapshots."""

    rows: DataFrame
    carries: DataFrame

    @property
    def ids(self) -> DataFrame:
        """The ids of pruned entries: namespace, record_id."""
        return self.rows.select(*KEY)

    def skeletons(self, columns: tuple[str, ...]) -> DataFrame:
        """Return the nodes of pruned entries; columns that a skeleton does not have are null."""
        return skeletons(self.rows).select(*columns)

    def of(self, namespaces: DataFrame) -> Pruned:
        """Return the pruned entries of these logs."""
        return Pruned(self.rows.join(namespaces, "namespace", "left_semi"), self.carries)


@dataclass(frozen=True, slots=True)
class RetainedEntries:
    """The entries of logs without pruned ones; `pruned` is None if no log of the lake has pruned entries.

    An entry that is delivered again after it was pruned is in both tables; then its skeleton counts. `hint` is that of
    joins with the logs that are asked for, and `lists` are their write lists: whoever knows them sets both.
    """

    entries: DataFrame
    pruned: Pruned | None
    hint: Hint = unhinted
    lists: WriteLists | None = None

    def of(self, namespaces: DataFrame) -> RetainedEntries:
        """Return the entries of these logs."""
        named = self.hint(namespaces.select("namespace"))
        entries = self.entries.join(named, "namespace", "left_semi")
        return replace(self, entries=entries, pruned=None if self.pruned is None else self.pruned.of(named))

    def within(self, buckets: tuple[int, ...]) -> RetainedEntries:
        """Return the entries of the logs in these buckets."""
        return self.where(in_buckets(buckets))

    def where(self, is_wanted: Column) -> RetainedEntries:
        """Return the entries of the logs for which a condition on namespace and bucket is true."""
        rest = None if self.pruned is None else Pruned(self.pruned.rows.where(is_wanted), self.pruned.carries)
        return replace(self, entries=self.entries.where(is_wanted), pruned=rest)

    def without(self, gone: Pruned) -> RetainedEntries:
        """Return the entries when those of `gone` are pruned, too.

        Reads:  gone: rows: kernels.SKELETON_COLUMNS; carries: namespace, carry, of all their logs.
        """
        columns = list(kernels.SKELETON_COLUMNS)
        rows, carries = gone.rows.select(*columns), gone.carries
        if self.pruned is not None:
            older = self.pruned.carries.join(carries, "namespace", "left_anti")
            rows, carries = rows.unionByName(self.pruned.rows.select(*columns)), carries.unionByName(older)
        entries = self.entries.join(gone.rows.select(*KEY), list(KEY), "left_anti")
        return replace(self, entries=entries, pruned=Pruned(rows, carries))

    def counted(self) -> DataFrame:
        """Count the records of each log, with pruned ones.

        Gives:  namespace, bucket, record_count.  Rows: one per log.
        """
        if self.pruned is None:
            return logs.counted(self.entries)
        place = ("namespace", "bucket")
        return logs.counted(self.entries.select(*place).unionByName(self.pruned.rows.select(*place)))

    def listed(self, entries: DataFrame, configured: DataFrame) -> DataFrame:
        """Keep the entries whose writer, or key, is on the write list of their log; as `logs.listed`."""
        return logs.listed(entries, configured, self.hint, self.lists)

    def nodes(self, configured: DataFrame, columns: tuple[str, ...] = NODE_COLUMNS) -> DataFrame:
        """Return the entries whose writer is on the write list, and skeletons.

        Reads:  configured: namespace, list_id.
        Gives:  `columns` of NODE_COLUMNS and other ones of entries; null where a skeleton does not have them.
        Rows:   one per entry or skeleton.
        """
        listed = self.listed(self.entries.select(*columns), configured)
        if self.pruned is None:
            return listed
        of_skeletons = tuple(name for name in columns if name in NODE_COLUMNS)
        skeletons = self.pruned.of(self.hint(configured.select("namespace"))).skeletons(of_skeletons)
        return listed.unionByName(skeletons, allowMissingColumns=True)

    def may_walk(self, namespaces: DataFrame) -> DataFrame:
        """Keep the logs without pruned entries; the order of other logs is always that of k."""
        if self.pruned is None:
            return namespaces
        return namespaces.join(self.pruned.carries.select("namespace"), "namespace", "left_anti")

    def fork_candidates(self, tables: Tables) -> DataFrame:
        """Return the entries in which forks are searched: all, and pruned ones that are members of a stored fork.

        Gives: namespace, bucket, key, clock_time, variant, record_id, block.
        """
        columns = ("namespace", "bucket", "key", "clock_time", "variant", "record_id", "block")
        entries = self.entries.select(*columns)
        if self.pruned is None:
            return entries
        stored = tables.read(EQUIVOCATIONS).where(F.col("dialect") == DIALECT)
        return entries.unionByName(_forked_members(stored, self.pruned.ids))


def retained_entries(tables: Tables, jobs: Jobs, version: int) -> RetainedEntries:
    """Return the entries as of a version of their table.

    Pruned records and snapshots are read afterwards, in their newest version.
    """
    entries = tables.read_version(ENTRIES, version)
    rows = removed_records(("log",), tables, jobs)
    if rows is None:
        return RetainedEntries(entries, None)
    carries = applied_carries(rows, tables.read(SNAPSHOTS)).select("namespace", "carry")
    carries = jobs.checkpoint(carries, "applied snapshots")
    return RetainedEntries(entries.join(rows.select(*KEY), list(KEY), "left_anti"), Pruned(rows, carries))


def skeletons(pruned: DataFrame) -> DataFrame:
    """Give the nodes of pruned entries.

    Reads:  kernels.SKELETON_COLUMNS.
    Gives:  dag.NODE, key, variant, next; writer, key and variant are null.
    Rows:   one per row.
    """
    nodes = map_batches(pruned.select(*kernels.SKELETON_COLUMNS), kernels.skeletons, kernels.SKELETON_SCHEMA)
    missing = [F.lit(None).cast("string").alias(name) for name in ("writer", "key", "variant")]
    return nodes.select("*", *missing).select(*dag.NODE, "key", "variant", "next")


def _forked_members(stored: DataFrame, pruned: DataFrame) -> DataFrame:
    """Give the pruned entries that stored rows of `equivocation` name.

    Reads:  stored: the columns of `equivocation`, of clock forks; pruned: namespace, record_id.
    Gives:  namespace, bucket, key, clock_time, variant, record_id, block (null if no row contains it).
    Rows:   one per such entry.
    """
    place = F.posexplode("members").alias("place", "record_id")
    each = stored.select("namespace", "bucket", "key", "position", "bytes_a", "bytes_b", place)
    block = F.when(F.col("place") == 0, F.col("bytes_a")).when(F.col("place") == 1, F.col("bytes_b"))
    named = each.select(
        "namespace", "bucket", "key", F.col("position").cast("bigint").alias("clock_time"),
        F.lit("any").alias("variant"), "record_id", block.alias("block"),
    )  # fmt: skip
    return named.join(pruned.select(*KEY), list(KEY), "left_semi")

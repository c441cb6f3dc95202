"""What is held of logs: their entries, and of those that were pruned what stands for them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.ipfslog.spark import dag, logs, pruned
from strandline.dialects.ipfslog.spark.tables import ENTRIES, EQUIVOCATIONS, PRUNED, SNAPSHOTS
from strandline.dialects.ipfslog.types import DIALECT
from strandline.frames.known import KEY, pruned_records

NODE_COLUMNS = (*dag.NODE, "key", "variant", "next")


@dataclass(frozen=True, slots=True)
class Pruned:
    """Of logs with pruned entries: their rows of `pruned_record`, and the carries of their applied snapshots."""

    rows: DataFrame
    carries: DataFrame

    @property
    def ids(self) -> DataFrame:
        """The ids of what was pruned: namespace, record_id."""
        return self.rows.select(*KEY)

    def skeletons(self, columns: tuple[str, ...]) -> DataFrame:
        """Return the nodes that stand for what was pruned; null where nothing tells."""
        return pruned.skeletons(self.rows).select(*columns)

    def of(self, namespaces: DataFrame) -> Pruned:
        """Return what was pruned of these logs."""
        named = F.broadcast(namespaces.select("namespace"))
        return Pruned(self.rows.join(named, "namespace", "left_semi"), self.carries)


@dataclass(frozen=True, slots=True)
class RetainedEntries:
    """Entries of logs without what is pruned; `pruned` is None where no log of the lake has pruned entries.

    An entry that comes in while it is pruned is in both tables: its skeleton counts.
    """

    entries: DataFrame
    pruned: Pruned | None

    def of(self, namespaces: DataFrame) -> RetainedEntries:
        """Return what is held of these logs."""
        entries = self.entries.join(F.broadcast(namespaces.select("namespace")), "namespace", "left_semi")
        return RetainedEntries(entries, None if self.pruned is None else self.pruned.of(namespaces))

    def within(self, buckets: tuple[int, ...]) -> RetainedEntries:
        """Return what is held of the logs of these buckets."""
        is_within = F.col("bucket").isin(*buckets)
        rest = None if self.pruned is None else Pruned(self.pruned.rows.where(is_within), self.pruned.carries)
        return RetainedEntries(self.entries.where(is_within), rest)

    def counted(self) -> DataFrame:
        """Count the records of each log, pruned ones too.  Gives: namespace, bucket, record_count."""
        if self.pruned is None:
            return logs.counted(self.entries)
        place = ("namespace", "bucket")
        return logs.counted(self.entries.select(*place).unionByName(self.pruned.rows.select(*place)))

    def nodes(self, configured: DataFrame, columns: tuple[str, ...] = NODE_COLUMNS) -> DataFrame:
        """Give S of logs: entries whose writer may write, and skeletons.

        Reads: configured: namespace, write.  Gives: `columns` of NODE_COLUMNS, of skeletons null where nothing tells.
        """
        listed = logs.listed(self.entries.select(*columns), configured)
        if self.pruned is None:
            return listed
        return listed.unionByName(self.pruned.of(configured).skeletons(columns))

    def may_walk(self, namespaces: DataFrame) -> DataFrame:
        """Keep of these logs those that nothing was pruned of: the order of others stays that of k."""
        if self.pruned is None:
            return namespaces
        return namespaces.join(self.pruned.carries.select("namespace"), "namespace", "left_anti")

    def witnesses(self, tables: Tables) -> DataFrame:
        """Give the entries that forks are found in: all, and pruned ones that a fork had shown before they went.

        Gives: namespace, bucket, key, clock_time, variant, record_id, block.
        """
        columns = ("namespace", "bucket", "key", "clock_time", "variant", "record_id", "block")
        entries = self.entries.select(*columns)
        if self.pruned is None:
            return entries
        stored = tables.read(EQUIVOCATIONS).where(F.col("dialect") == DIALECT)
        return entries.unionByName(pruned.members(stored, self.pruned.ids))


def held(tables: Tables, jobs: Jobs, version: int) -> RetainedEntries:
    """Return what is held as of a version of the entries: what is pruned and the snapshots are read after them."""
    entries = tables.read_version(ENTRIES, version)
    rows = pruned_records(tables.read(PRUNED), ("log",))
    if not jobs.has_rows(rows):
        return RetainedEntries(entries, None)
    carries = jobs.checkpoint(pruned.carries(rows, tables.read(SNAPSHOTS)), "applied snapshots")
    return RetainedEntries(entries.join(rows.select(*KEY), list(KEY), "left_anti"), Pruned(rows, carries))

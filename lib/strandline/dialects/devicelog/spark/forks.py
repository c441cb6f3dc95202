"""Forks of logs: places at which one key wrote several entries."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import EQUIVOCATIONS, PRUNED
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.devicelog import kernels
from strandline.dialects.devicelog.info import INFO
from strandline.dialects.devicelog.spark.entries import is_erased
from strandline.dialects.devicelog.spark.reduction import NewEntries
from strandline.dialects.devicelog.types import DIALECT
from strandline.dialects.devicelog.verify import FORK_KIND
from strandline.frames.crowds import crowds
from strandline.frames.known import KEY, pruned_records
from strandline.frames.lift import map_batches
from strandline.frames.states import as_equivocation
from strandline.kernels.equivocations import FORK_SCHEMA

_PLACE: Final = ("namespace", "log", "seq")
"""A place in a log: an honest device writes one entry there."""


def forks(
    entries: DataFrame, new_entries: NewEntries | None, *, is_weak: bool, hmac_key: bytes | None
) -> DataFrame:
    """Shape contradicting entries to the contract of `equivocation`.

    Reads:  entries: columns of `device_log_entry`; new_entries: None for all places, else only theirs are looked at, in
            their buckets. `is_weak`: messages contradict each other whatever they follow.
    Gives:  the columns of `equivocation`.
    Rows:   one per place with several entries that follow one, or several first ones; none if one of the two with the
            least ids was erased.
    """
    entries = entries if new_entries is None else new_entries.within(entries)
    headers = entries.select(*_PLACE, "bucket", "record_id", "prev", "profile")
    if new_entries is not None:
        headers = headers.join(new_entries.changes.select(*_PLACE).distinct(), list(_PLACE), "left_semi")
    children = Window.partitionBy(*_PLACE, "bucket", _follows(is_weak=is_weak))
    twins = headers.withColumn("twins", F.count(F.lit(1)).over(children)).where("twins > 1")
    found = crowds(twins, (*_PLACE, "bucket")).select(
        "namespace", "bucket", "members", "member_count", F.col("shown_a").alias("first"), "shown_b"
    )
    pairs = found.select(
        "namespace", F.explode(F.array("first", "shown_b")).alias("record_id"), F.col("first")
    )
    stored = (
        entries.where(~is_erased()).select(*kernels.STORED_COLUMNS).join(pairs, ["namespace", "record_id"])
    )
    both = stored.groupBy("namespace", "first").agg(
        F.collect_list(F.struct(*kernels.STORED_COLUMNS)).alias("pair")
    )
    rows = found.join(both, ["namespace", "first"]).where(F.size("pair") == 2)
    shaped = map_batches(
        rows.select(*kernels.FORK_COLUMNS), kernels.fork_rows, FORK_SCHEMA, hmac_key=hmac_key
    )
    return as_equivocation(shaped, dialect=DIALECT, kind=FORK_KIND, attributable=True)


def with_forks_of_erased(found: DataFrame, tables: Tables, jobs: Jobs) -> DataFrame:
    """Add the stored forks that show an erased body; they stay unchanged.

    If two entries with smaller ids have arrived at the place of one since, the fork is found again and shows these.
    Reads:  found: `forks` of all places.  Gives: its columns.  Rows: one per place.
    """
    kept = _of_erased(tables)
    if kept is None:
        return found
    found, place = jobs.checkpoint(found, "forks"), list(contract(EQUIVOCATIONS).key)
    return found.unionByName(kept.join(found.select(*place), place, "left_anti"))


def _of_erased(tables: Tables) -> DataFrame | None:
    """Return the stored forks that show an erased body; None if nothing was erased.

    Gives:  the columns of `equivocation` that are compared.
    """
    if not tables.stored_bytes(PRUNED):
        return None
    erased = pruned_records(tables.read(PRUNED), INFO.kinds, "erase").select(*KEY)
    stored = tables.read(EQUIVOCATIONS).where(F.col("dialect") == DIALECT)
    shown = stored.select(
        "namespace", "equivocation_id", F.explode(F.slice("members", 1, 2)).alias("record_id")
    )
    named = shown.join(erased, list(KEY), "left_semi").select("namespace", "equivocation_id")
    found = stored.join(named, ["namespace", "equivocation_id"], "left_semi")
    return found.select(*contract(EQUIVOCATIONS).compared)


def _follows(*, is_weak: bool) -> Column:
    """Return the entry that an entry follows, if this distinguishes two entries at one place."""
    return F.when(F.col("profile") == "native", F.col("prev")) if is_weak else F.col("prev")

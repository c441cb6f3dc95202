"""Groups reduced from their stored state and their new entries: the cost follows the new entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.devicelog.kernels import increments
from strandline.dialects.devicelog.kernels.schemas import REDUCED_SCHEMA
from strandline.dialects.devicelog.spark.tables import SCREWS, TIPS, VIEW
from strandline.dialects.devicelog.types import ForkPolicy
from strandline.frames.buckets import in_buckets
from strandline.frames.lift import map_batches

GROUP: Final = ("namespace", "bucket")
_FEW_GROUPS: Final = 10_000
"""The number of groups that can be broadcast to every task: a megabyte."""
_FEW_LOGS: Final = 80_000
"""The number of their logs that can be: 16 MiB. One founder can name a thousand, and admit any number."""


@dataclass(frozen=True, slots=True)
class Increments:
    """The changed rows of groups, `kernels.REDUCED_SCHEMA`, and the groups that must be reduced whole, or None."""

    rows: DataFrame | None
    whole: DataFrame | None


def from_changes(
    new_entries: DataFrame,
    headers: DataFrame,
    buckets: Sequence[int],
    tables: Tables,
    jobs: Jobs,
    policy: ForkPolicy,
    version: str,
) -> Increments:
    """Reduce the groups of new entries from their stored states, as far as increments hold.

    Reads:  new_entries, headers: HEADER_COLUMNS, of the new entries and of all of them. `buckets`: those of the new
            entries. `version`: the reducer version that a stored state must have.
    """
    new_entries = jobs.persist(new_entries, "new entries")
    groups = new_entries.select(*GROUP).distinct()
    tips = tables.read(TIPS).where(in_buckets(buckets)).join(groups, [*GROUP], "left_semi")
    asked = _together({"tip": tips, "new": new_entries})
    windows = jobs.checkpoint(
        map_batches(asked, increments.windows, increments.WINDOW_SCHEMA), "entries that new ones need"
    )
    found = jobs.row(
        windows.agg(
            F.count_distinct("namespace").alias("groups"),
            F.count(F.lit(1)).alias("logs"),
            F.count_if(F.col("log").isNull()).alias("whole"),
        )
    )
    whole = windows.where(F.col("log").isNull()).select(*GROUP)
    if found["whole"] == found["groups"]:
        return Increments(None, whole)
    growing = windows.where(F.col("log").isNotNull())
    logs, groups = growing, growing.select(*GROUP).distinct()
    if found["groups"] <= _FEW_GROUPS:
        groups = F.broadcast(groups)
        logs = F.broadcast(logs) if found["logs"] <= _FEW_LOGS else logs

    def stored(frame: DataFrame) -> DataFrame:
        return frame.where(in_buckets(buckets)).join(groups, [*GROUP], "left_semi")

    within = (F.col("seq") > F.col("above")) & (F.col("seq") <= F.col("upto"))
    entries = headers.where(in_buckets(buckets)).join(logs, [*GROUP, "log"]).where(within)
    parts = {
        "tip": stored(tips),
        "view": _ends(stored(tables.read(VIEW))),
        "screw": stored(tables.read(SCREWS)).groupBy(*GROUP, "log").agg(F.max_by("rewind", "seq").alias("rewind")),
        "state": stored(tables.read(STATES)).where(F.col("reducer_version") == version),
        "total": stored(headers).groupBy(*GROUP).agg(F.count(F.lit(1)).alias("entry_count")),
        "new": stored(new_entries),
        "window": entries,
    }  # fmt: skip
    rows = map_batches(_together(parts), increments.grown, REDUCED_SCHEMA, policy=policy)
    # Without its plan: that reads the view, which changes before other rows are written.
    rows = jobs.checkpoint(rows, "changed rows of views")
    refused = rows.where(F.col("part") == increments.WHOLE)
    if jobs.has_rows(refused):
        whole = whole.unionByName(refused.select(*GROUP))
    elif not found["whole"]:
        return Increments(rows, None)
    return Increments(rows.where(F.col("part") != increments.WHOLE), whole)


def _ends(view: DataFrame) -> DataFrame:
    """Keep the rows of views that are not final, and the last final one of each."""
    columns = increments.STORED["view"]
    placed = view.where(F.col("position").isNotNull()).select(*GROUP, *columns)
    last = placed.where("final").groupBy(*GROUP).agg(F.max_by(F.struct(*columns), "position").alias("last"))
    return placed.where("NOT final").unionByName(last.select(*GROUP, "last.*"))


def _together(parts: dict[str, DataFrame]) -> DataFrame:
    """Give the rows of several frames, each as a struct named as its part, those of a namespace together."""
    frames = [
        frame.select(*GROUP, F.lit(part).alias("part"), F.struct(*increments.STORED[part]).alias(part))
        for part, frame in parts.items()
    ]
    every = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
    return every.repartition("namespace").sortWithinPartitions("namespace")

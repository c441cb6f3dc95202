"""The order of runs: the order of commits of the table `run`, independent of clocks."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from strandline.tables.run_versions import RUN_VERSION


def run_order() -> Column:
    """Return the sort key of rows of `run`: of two rows, the later one has the greater key.

    Rows that were added at the same time name the same version: the random part of their ids decides. Rows of older
    versions of Strandline name no version. They come before all others, ordered by time.

    Reads: detail, started_at, run_id.
    """
    seen = F.get_json_object("detail", f"$.{RUN_VERSION}").cast("bigint")
    return F.struct(
        F.coalesce(seen, F.lit(-1)).alias("seen"),
        F.when(seen.isNull(), F.col("started_at")).alias("started_at"),
        F.substring_index("run_id", "-", -1).alias("random"),
    )

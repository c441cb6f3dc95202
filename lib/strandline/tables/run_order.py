"""The order of runs: that of the commits of the table `run`, whatever the clocks of the machines that ran said."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

RUN_VERSION: Final = "run_version"
"""Member of a row's `detail`: the version of the table `run` right before the row was added to it."""


def run_order() -> Column:
    """Return what tells, of two rows of `run`, which was added later: the greater one. No clock plays a part.

    Rows that were added at the same time saw the same version: the random part of their ids decides. Rows of older
    versions of this product note no version. They come before all others, and among each other in order of time.

    Reads: detail, started_at, run_id.
    """
    seen = F.get_json_object("detail", f"$.{RUN_VERSION}").cast("bigint")
    return F.struct(
        F.coalesce(seen, F.lit(-1)).alias("seen"),
        F.when(seen.isNull(), F.col("started_at")).alias("started_at"),
        F.substring_index("run_id", "-", -1).alias("random"),
    )

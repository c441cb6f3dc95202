"""Node journals as the exact texts that nodes keep."""

from __future__ import annotations

from pyspark.sql import functions as F

from strandline.dialect_api.archive import Archive
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import export, journal_rows
from strandline.dialects.sdmp.spark.tables import LINES
from strandline.frames.namespaces import only_namespaces


def archive(lake: LakeSnapshot, jobs: Jobs, namespaces: tuple[str, ...] | None) -> Archive:
    """Return the texts of these journals, or of all; one with a fork has none: two lines claim one place."""
    lines = lake.read(LINES).select(*kernels.LINE_COLUMNS)
    if namespaces is not None:
        lines = only_namespaces(lines, namespaces, lake.buckets)
    counts = journal_rows.counted(lines).withColumn("is_forked", F.col("line_count") > F.col("top_n"))
    found = jobs.row(
        counts.agg(
            F.coalesce(F.sum("line_count"), F.lit(0)).alias("lines"), F.count_if("is_forked").alias("forked")
        )
    )
    if found["forked"]:
        lines = lines.join(counts.where("is_forked"), ["namespace", "bucket"], "left_anti")
    texts = export.in_order(export.texts(export.pages(export.unforked(lines))), found["lines"])
    return Archive(texts.select("namespace", "content", "records"), found["forked"])

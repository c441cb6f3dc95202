"""Node journals as a file that other lakes, and nodes, read."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import functions as F

from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.sdmp.spark import export_pages, journal_rows
from strandline.dialects.sdmp.spark.positions import LINES
from strandline.frames.namespaces import only_namespaces


def export(held: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
    """Return the accepted lines of journals: of one without a fork its text, as it is hashed; else frames.

    Every line is written once: a branch begins after the line that it follows.
    """
    lines = only_namespaces(held.read(LINES).select(*journal_rows.LINE_COLUMNS), namespaces, held.buckets)
    found = jobs.row(
        journal_rows.counted(lines).agg(
            F.coalesce(F.sum("line_count"), F.lit(0)).alias("lines"),
            F.collect_list(F.when(F.col("line_count") > F.col("top_n"), F.col("namespace"))).alias("forked"),
        )
    )
    is_forked = F.col("namespace").isin(*found["forked"])
    branched = export_pages.unforked(lines.where(~is_forked))
    if found["forked"]:
        branched = branched.unionByName(export_pages.forked(lines.where(is_forked)))
    is_text = len(namespaces) == 1 and not found["forked"]
    pages = export_pages.pages(branched)
    written = export_pages.texts(pages) if is_text else export_pages.frames(pages, lines)
    return ExportFile(
        form="text journal" if is_text else "frames",
        head=b"",
        rows=export_pages.in_order(written, found["lines"]),
        ids=lines.select("namespace", "record_id"),
        heads=journal_rows.leaves(lines, lines).select("namespace", "record_id"),
        counts={"forked": len(found["forked"])},
    )

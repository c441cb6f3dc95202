"""Node journals as a file that other lakes, and nodes, read."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import functions as F

from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.sdmp.dialect.positions import LINES
from strandline.dialects.sdmp.frames import export as ex
from strandline.dialects.sdmp.frames import reduction as rd
from strandline.frames.namespaces import only_namespaces


def export(held: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
    """Return the accepted lines of journals: of one without a fork its text, as it is hashed; else frames.

    Every line comes once: a branch begins behind the line that it follows.
    """
    lines = only_namespaces(held.read(LINES).select(*rd.LINE_COLUMNS), namespaces, held.buckets)
    found = jobs.row(
        rd.counted(lines).agg(
            F.coalesce(F.sum("line_count"), F.lit(0)).alias("lines"),
            F.collect_list(F.when(F.col("line_count") > F.col("top_n"), F.col("namespace"))).alias("forked"),
        )
    )
    is_forked = F.col("namespace").isin(*found["forked"])
    branched = ex.unforked(lines.where(~is_forked))
    if found["forked"]:
        branched = branched.unionByName(ex.forked(lines.where(is_forked)))
    is_text = len(namespaces) == 1 and not found["forked"]
    pages = ex.pages(branched)
    written = ex.texts(pages) if is_text else ex.frames(pages, lines)
    return ExportFile(
        form="text journal" if is_text else "frames",
        head=b"",
        rows=ex.in_order(written, found["lines"]),
        ids=lines.select("namespace", "record_id"),
        heads=rd.leaves(lines, lines).select("namespace", "record_id"),
        counts={"forked": len(found["forked"])},
    )

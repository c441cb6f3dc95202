"""Elements that were not accepted, as findings: the form in which every dialect returns them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark.elements import SEGMENT, is_candidate, is_refused
from strandline.dialects.sdmp.spark.line_columns import namespace, number_of
from strandline.frames.findings import with_source
from strandline.frames.lift import map_batches
from strandline.frames.provenance import of_files


def rejected(facts: DataFrame, measured: DataFrame | None, sources: DataFrame) -> DataFrame:
    """Shape rejected elements and unreadable places to findings.

    Reads:  the elements with their facts; `borders.parts` if a text journal was read in several parts; sources:
            `provenance.batch_sources`.
    Gives:  FINDING_COLUMNS.
    Rows:   one per element that failed a check or is unreadable.
    """
    bad = _with_offset(facts.where(is_refused()), measured)
    position = (F.col("base_lines") + F.col("idx") + 1).alias("position")
    described = map_batches(bad.select(*_DESCRIBED, position), kernels.rejections, kernels.REJECTION_SCHEMA)
    findings = described.select(
        F.when(F.col("node").isNotNull(), namespace()).alias("namespace"),
        "status",
        F.split("reasons", ",").alias("reasons"),
        F.when(F.col("hash").isNotNull(), F.unhex(F.sha2("raw", 256))).alias("record_id"),
        "raw",
        "raw_bytes",
        "raw_sha256",
        F.when(F.col("status") == "rejected", F.array().cast("array<string>"))
        .otherwise(F.array("waits_for"))
        .alias("waits_for"),
        "evidence",
        "file_no",
        "source_offset",
        F.struct("file_no", "part", "frame", "idx").alias("order_key"),
    )
    return with_source(findings, sources)


_DESCRIBED = (
    "file_no", "part", "frame", "idx", "node", "raw", "raw_bytes", "raw_sha256", "hash", "code", "expected", "before",
    "damage", "evidence", "source_offset",
)  # fmt: skip


def beyond(facts: DataFrame, open_heads: DataFrame, full: DataFrame, waiting: DataFrame) -> DataFrame:
    """Find the elements that exceed their namespace's room for waiting records.

    Reads:  the elements with their facts; open_heads: heads without n; full: namespace, room; waiting rows of
            `quarantine`.
    Gives:  file_no, part, frame, idx.
    Rows:   those beyond the room, in the order of the hash of their bytes; an element that is already waiting is not
            counted.
    """
    candidates = facts.where(is_candidate()).join(open_heads.select(*SEGMENT, "namespace"), list(SEGMENT))
    numbered = candidates.join(full.select("namespace", "room"), "namespace").withColumn(
        "id", F.unhex(F.sha2("raw", 256))
    )
    known = waiting.select("namespace", F.col("record_id").alias("id"))
    added = numbered.join(known, ["namespace", "id"], "left_anti")
    rank = F.dense_rank().over(Window.partitionBy("namespace").orderBy("id"))
    return added.withColumn("rank", rank).where("rank > room").select("file_no", "part", "frame", "idx")


def deferred(
    facts: DataFrame,
    heads: DataFrame,
    measured: DataFrame | None,
    sources: DataFrame,
    limited: DataFrame | None,
) -> DataFrame:
    """Shape delivered elements without a known predecessor to findings: each waits for its predecessor.

    Reads:  the elements with their facts; heads with n (null: no known predecessor); limited: file_no, part, frame,
            idx of elements over the limit (DEFERRED_LIMIT, rejected).
    Gives:  FINDING_COLUMNS.
    Rows:   one per delivered element of such a segment.
    """
    open_segments = heads.where("n IS NULL").select(*SEGMENT)
    waiting = _with_offset(facts.where(is_candidate()).join(open_segments, list(SEGMENT)), measured)
    number = number_of(F.col("raw"), F.col("node"))
    is_limited = F.lit(False)
    if limited is not None:
        marked = limited.withColumn("limited", F.lit(True))
        waiting = waiting.join(marked, ["file_no", "part", "frame", "idx"], "left")
        is_limited = F.coalesce("limited", F.lit(False))
    first_position = F.coalesce(
        *(
            F.get_json_object("evidence", f"$.{code}.position")
            for code in ("DEFERRED_LIMIT", "OWN_LINE_NOT_HELD")
        )
    ).cast("bigint")
    position = F.coalesce(first_position, F.col("base_lines") + F.col("idx") + 1)
    findings = waiting.select(
        namespace().alias("namespace"),
        F.when(is_limited, F.lit("rejected")).otherwise(F.lit("deferred")).alias("status"),
        F.when(is_limited, F.array(F.lit("DEFERRED_LIMIT")))
        .otherwise(F.array(F.lit("PREDECESSOR_UNKNOWN")))
        .alias("reasons"),
        F.unhex(F.sha2("raw", 256)).alias("record_id"),
        "raw",
        "raw_bytes",
        "raw_sha256",
        F.when(is_limited, F.array().cast("array<string>"))
        .otherwise(F.array(F.concat(F.lit("line:"), number)))
        .alias("waits_for"),
        F.when(is_limited, _evidence("DEFERRED_LIMIT", position, F.col("since")))
        .otherwise(_evidence("PREDECESSOR_UNKNOWN", position, F.col("since")))
        .alias("evidence"),
        "file_no",
        "source_offset",
        F.struct("file_no", "part", "frame", "idx").alias("order_key"),
    )
    return with_source(findings, sources)


def _evidence(reason: str, position: Column, since: Column) -> Column:
    """Return the JSON text that `verify` writes for PREDECESSOR_UNKNOWN; `since` is an id, so it needs no escape."""
    quoted = F.when(since.isNull(), F.lit("null")).otherwise(F.concat(F.lit('"'), since, F.lit('"')))
    return F.concat(
        F.lit('{"' + reason + '":{"position":'),
        position.cast("string"),
        F.lit(',"since":'),
        quoted,
        F.lit("}}"),
    )


def first_breaks(
    facts: DataFrame, heads: DataFrame, measured: DataFrame | None, sources: DataFrame
) -> DataFrame:
    """Find the first rejected element of each damaged file.

    Reads:  the delivered elements with their facts; heads with n.
    Gives:  source, node, position, code, expected, actual, damage, accepted_before (lines of the file accepted before
            that element).
    Rows:   one per file with a rejected element, sorted by file.
    """
    bad = _with_offset(facts.where(is_refused()), measured)
    position = F.col("base_lines") + F.col("idx") + 1
    number = number_of(F.col("raw"), F.col("node"))
    breaks = bad.groupBy("file_no").agg(
        F.min(
            F.struct(
                "part", "frame", "idx", position.alias("position"), "node", "code", "expected",
                F.when(F.col("expected").isNotNull(), number).alias("actual"), "damage",
            )
        ).alias("first")
    )  # fmt: skip
    first = breaks.select("file_no", "first.*")
    accepted = heads.where("n IS NOT NULL").select(
        "file_no", F.struct("part", "frame", "head").alias("at"), F.col("lines").alias("accepted_lines")
    )
    here = F.struct(F.col("part"), F.col("frame"), F.col("idx").alias("head"))
    before = (
        first.select("file_no", here.alias("broken")).join(accepted, "file_no").where("at < broken")
        .groupBy("file_no").agg(F.sum("accepted_lines").alias("accepted_before"))
    )  # fmt: skip
    return (
        first.join(before, "file_no", "left")
        .join(of_files(sources), "file_no")
        .orderBy("file_no")
        .select(
            "source",
            "node",
            "position",
            "code",
            "expected",
            "actual",
            "damage",
            F.coalesce("accepted_before", F.lit(0)).alias("accepted_before"),
        )
    )


def _with_offset(elements: DataFrame, measured: DataFrame | None) -> DataFrame:
    """Add base_lines (lines of the file before the part) and source_offset (bytes, in the decompressed file)."""
    if measured is None:
        placed = elements.withColumn("base_lines", F.lit(0).cast("bigint"))
    else:
        bases = measured.select("file_no", "part", "base_lines")
        placed = elements.join(bases, ["file_no", "part"], "left").fillna(0, ["base_lines"])
    is_text = (F.col("frame") == kernels.TEXT_FRAME) & F.col("damage").isNull()
    inside = F.when(is_text, F.col("bytes_before")).otherwise(F.lit(0))
    return placed.withColumn("source_offset", (F.col("offset") + inside).cast("bigint"))

"""Node journals: many copies of a line, and many lines that follow it, do not multiply."""

from dataclasses import dataclass

import pytest
from pyspark.sql import functions as F

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import batch, render
from strandline.dialects.sdmp.spark import counters, heads
from strandline.frames.blocks import REPLAY_FILE_NO
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import file_scan
from support.lakes import write_files
from support.plans import most_rows

COPIES = 2_000
"""Two frames of so many rows have a product of millions."""
NODE = "a" * 5


@dataclass
class Stored:
    """Tables that are frames."""

    tables: dict

    def read(self, table):
        return self.tables[table]


def test_heads_that_follow_a_line_of_many_copies_find_the_first_of_them(spark):
    wanted = spark.range(COPIES).select(
        F.concat(F.lit("h"), "id").alias("head_id"), F.lit(NODE).alias("node"), F.lit("x").alias("number"),
        F.lit(None).cast("bigint").alias("attached_n"),
    )  # fmt: skip
    zero = F.lit(0).cast("bigint")
    lines = spark.range(COPIES).select(
        (F.col("id") + 5).alias("file_no"), zero.alias("part"), zero.alias("frame"), F.lit(3).alias("head"),
        F.lit(NODE).alias("node"), F.lit(7).alias("idx"), F.lit("x").alias("hash"),
    )  # fmt: skip
    with most_rows(spark) as most:
        found = heads.parents_in_run(wanted, lines).collect()
    assert len({row["head_id"] for row in found}) == len(found) == COPIES
    assert {(row["parent_id"], row["parent_offset"]) for row in found} == {("5:0:0:3", 4)}
    assert max(most) <= 2 * COPIES


def test_frames_that_follow_a_line_of_many_copies_are_counted_once_each(spark):
    since = F.when(F.col("id") < 10, F.lit("wrong")).otherwise(F.lit("right"))
    starts = spark.range(COPIES).select(
        F.concat(F.lit("h"), "id").alias("head_id"), F.lit("node:" + NODE).alias("namespace"),
        F.lit(NODE).alias("node"), F.lit("x").alias("number"), since.alias("since"),
        F.lit(9).cast("bigint").alias("n"), F.col("id").alias("file_no"), F.lit(0).alias("head"),
    )  # fmt: skip
    raw = F.lit("right@").cast("binary")
    lines = spark.range(COPIES).select(
        F.lit(None).cast("string").alias("damage"), F.lit(0).alias("code"), F.lit(NODE).alias("node"),
        F.lit("x").alias("hash"), raw.alias("raw"),
    )  # fmt: skip
    tables = Stored({
        "node_journal": spark.createDataFrame(
            [], "namespace STRING, bucket INT, tip_hash STRING, tip_number STRING, tip_n BIGINT"
        ),
        "node_journal_line": spark.createDataFrame(
            [("node:" + NODE, 0, "x", "right", 8)],
            "namespace STRING, bucket INT, line_hash STRING, line_number STRING, n BIGINT",
        ),
    })  # fmt: skip
    with most_rows(spark) as most, SparkJobs(NoProgress()) as jobs:
        assert counters.since_mismatches(lines, starts, tables, jobs, (0,)) == 10
    assert max(most) <= 2 * COPIES


def test_journals_that_end_before_many_stored_siblings_are_counted_once_each(spark):
    ends = spark.range(COPIES).select(
        F.when(F.col("id") < 3, F.col("id") + REPLAY_FILE_NO).otherwise(F.col("id")).alias("file_no"),
        F.lit(0).alias("part"), F.lit(kernels.TEXT_FRAME).cast("bigint").alias("frame"), F.lit(0).alias("head"),
        F.lit("node:a").alias("namespace"), F.lit(4).cast("bigint").alias("n"),
        F.lit(2).cast("bigint").alias("lines"),
    )  # fmt: skip
    last = ends.select(
        "file_no", "part", F.lit(1).alias("idx"),
        F.when(F.col("file_no") % 2 == 0, F.lit("l5")).otherwise(F.lit("other")).alias("hash"),
    )  # fmt: skip
    siblings = spark.range(COPIES).select(
        F.lit("node:a").alias("namespace"), F.lit(0).alias("bucket"), F.lit(6).cast("bigint").alias("n"),
        F.when(F.col("id") < 50, F.lit("l5")).otherwise(F.concat(F.lit("x"), "id")).alias("line_number"),
    )  # fmt: skip
    with most_rows(spark) as most, SparkJobs(NoProgress()) as jobs:
        shorter = counters.shorter_journals(
            last, ends, Stored({"node_journal_line": siblings}), jobs, (0,), 5
        )
    # Rows of `quarantine` that are judged again are no journals.
    assert shorter == sum(number % 2 == 0 for number in range(3, COPIES))
    assert max(most) <= 2 * COPIES


@pytest.mark.parametrize("small_bytes", [file_scan.SMALL_BYTES, -1], ids=["few", "many"])
def test_lines_that_are_judged_again_are_no_journals_that_end_early(
    new_lake, monkeypatch, tmp_path, small_bytes
):
    monkeypatch.setattr(file_scan, "SMALL_BYTES", small_bytes)
    lake, lines = new_lake(limits={"deferred_per_namespace": 1}), list(synthetic(3, 8))
    late = batch(lines[0].decode(), lines[2].partition(b"@")[0].decode(), lines[4:])
    lake.ingest(write_files(tmp_path / "late", {"a.jsonl": late}))
    lake.ingest(write_files(tmp_path / "all", {"a.journal": render(lines)}))
    again = lake.ingest(from_quarantine=True)
    assert (again.counts["known"], again.counts["shorter_journals"]) == (3, 0)
    shorter = lake.ingest(write_files(tmp_path / "short", {"b.journal": render(lines[:6])}))
    assert shorter.counts["shorter_journals"] == 1

"""The rows that a batch of node journals adds: accepted lines, and resources of local nodes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.admission import AdmitRequest, TableInsert
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp.spark import elements, records, resources
from strandline.dialects.sdmp.spark.batch import Batch
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_rows
from strandline.dialects.sdmp.spark.positions import LINES
from strandline.frames.provenance import with_record_source

Totals: TypeAlias = Mapping[str, Any]
"""The row of `admission.head_totals`, by name."""

_LARGE_PART_LINES = 100_000
"""Lines of one bucket in one part that are worth a file of their own: 12 MB in the table."""


def inserts(
    batch: Batch, tables: Tables, jobs: Jobs, request: AdmitRequest, found: Totals, has_announced: bool
) -> tuple[TableInsert, ...]:
    """Return the inserts of accepted lines and of resources of local nodes; `found` has the totals of the heads."""

    def received(heads: DataFrame) -> DataFrame:
        accepted = records.accepted(batch.facts, heads, overlapping=bool(found["overlapping"]))
        return records.as_node_journal_line(accepted, origin="received")

    news = received(batch.heads.where(~F.col("is_known")))
    lines = _line_insert(batch, news, tables, jobs, found) if found["new_buckets"] else None
    held = received(batch.heads)
    resources_held = _resource_insert(
        batch, held, has_announced, bool(found["buckets"]), tables, jobs, request
    )
    return tuple(insert for insert in (lines, resources_held) if insert is not None)


def _line_insert(batch: Batch, lines: DataFrame, tables: Tables, jobs: Jobs, found: Totals) -> TableInsert:
    """Return the accepted lines, and line 1 of each journal of which only later lines were delivered."""
    buckets = tuple(sorted(found["new_buckets"]))
    bounds = {"n": (found["low"], found["high"])}
    implied = (
        _implied(batch, tables, jobs, buckets) if found["accepted_namespaces"] > found["rooted"] else None
    )
    if implied is None:
        return TableInsert(LINES, lines, buckets, bounds, presorted=_presorted(found))
    first_lines = records.as_node_journal_line(records.implied(implied), origin="implied")
    return TableInsert(
        LINES, lines.unionByName(first_lines), buckets, {"n": (1, found["high"])},
        derived_keys=first_lines.select("namespace", "record_id"),
    )  # fmt: skip


def _resource_insert(
    batch: Batch, received: DataFrame, has_announced: bool, has_accepted: bool, tables: Tables, jobs: Jobs,
    request: AdmitRequest,
) -> TableInsert | None:  # fmt: skip
    """Return the new resources of local nodes: announced ones, and those on restored lines."""
    local = local_nodes(request.options)
    found: list[DataFrame] = []
    if has_announced:
        announced = with_record_source(batch.facts.where(elements.is_announced()), batch.sources)
        found.append(resources.announced(announced))
    if local.restore and has_accepted:
        restored = node_rows(tables, local.restore)
        found.append(
            resources.restored(
                received.join(F.broadcast(restored.select("namespace")), "namespace", "left_semi")
            )
        )
    if not found:
        return None
    newest = tables.read("node_resource").agg(F.max("ingest_no").alias("last"))
    ingest_no = 1 + (jobs.row(newest)["last"] or 0)
    rows = resources.as_node_resource(reduce(DataFrame.unionByName, found), ingest_no, tables.buckets)
    rows = jobs.checkpoint(rows, "resources of local nodes")
    buckets = buckets_of(jobs.row(rows.agg(F.collect_set("bucket").alias("buckets"))))
    derived_keys = rows.where("origin = 'restored'").select("namespace", "author_fp", "resource_id")
    return TableInsert("node_resource", rows, buckets, derived_keys=derived_keys) if buckets else None


def _presorted(found: Totals) -> bool:
    """Return whether the lines are laid out as the table needs: ascending, many lines per bucket and part."""
    return not found["overlapping"] and found["new_lines"] >= _LARGE_PART_LINES * found["part_buckets"]


def _implied(batch: Batch, tables: Tables, jobs: Jobs, buckets: tuple[int, ...]) -> DataFrame | None:
    """Return the nodes whose line 1 was not delivered and of which no line is stored, or None."""
    bare = (
        batch.heads.where("n IS NOT NULL")
        .groupBy("namespace", "bucket", "node")
        .agg(F.max("has_stored").alias("has_stored"), F.min("n").alias("low"))
        .where("NOT has_stored AND low > 1")
    )
    stored = tables.read(LINES).where(F.col("bucket").isin(*buckets) & (F.col("n") == 1)).select("namespace")
    implied = jobs.checkpoint(bare.join(stored, "namespace", "left_anti"), "first lines")
    return implied if jobs.has_rows(implied) else None


def buckets_of(row: Totals | Row) -> tuple[int, ...]:
    """Return the buckets that `collect_set` found, sorted."""
    return tuple(sorted(row["buckets"]))

"""The rows that a batch of node journals adds: accepted lines, and resources of local nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.dialect_api.admission import AdmitRequest, TableInsert
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp.spark import elements, records, resources
from strandline.dialects.sdmp.spark.batch import Batch
from strandline.dialects.sdmp.spark.chunks import is_whole_chunk
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_rows
from strandline.dialects.sdmp.spark.tables import LINES, RESOURCES
from strandline.frames.buckets import in_buckets
from strandline.frames.layout import laid_out
from strandline.frames.provenance import with_record_source
from strandline.frames.union import union

Totals: TypeAlias = Mapping[str, Any]
"""The row of `admission._head_totals`, by name."""

_LARGE_PART_LINES = 100_000
"""Lines of one bucket in one part that are worth a file of their own: 12 MB in the table."""


def inserts(
    batch: Batch, tables: Tables, jobs: Jobs, request: AdmitRequest, found: Totals, has_announced: bool
) -> tuple[TableInsert, ...]:
    """Return the inserts of accepted lines and of resources of local nodes; `found` has the totals of the heads."""
    lines = _line_insert(batch, tables, jobs, found) if found["new_buckets"] else None
    of_nodes = _resource_insert(batch, found, has_announced, tables, jobs, request)
    return tuple(insert for insert in (lines, of_nodes) if insert is not None)


def _received(facts: DataFrame, heads: DataFrame, found: Totals) -> DataFrame:
    accepted = records.accepted(facts, heads, overlapping=bool(found["overlapping"]))
    return records.as_node_journal_line(accepted, origin="received")


def _new_lines(batch: Batch, found: Totals) -> list[DataFrame]:
    """Return the accepted lines of segments that are not known: of whole chunks in table order, and all others."""
    new_heads = batch.heads.where(~F.col("is_known"))
    found_lines: list[DataFrame] = []
    if batch.chunks is not None and found["chunk_lines"]:
        placed = new_heads.where(F.col("n").isNotNull() & is_whole_chunk())
        found_lines.append(batch.chunks.accepted(placed))
    if found["chunk_lines"] < found["new_lines"]:
        others = new_heads.where(~is_whole_chunk())
        facts = batch.facts
        if found["overlapping"]:
            facts = batch.lines(others.where("n IS NOT NULL AND is_chunk"))
        found_lines.append(_received(facts, others, found))
    return found_lines


def _line_insert(batch: Batch, tables: Tables, jobs: Jobs, found: Totals) -> TableInsert:
    """Return the accepted lines, and line 1 of each journal of which only later lines were delivered."""
    buckets = tuple(sorted(found["new_buckets"]))
    bounds = {"n": (found["low"], found["high"])}
    implied = (
        _implied(batch, tables, jobs, buckets) if found["accepted_namespaces"] > found["rooted"] else None
    )
    rows = _new_lines(batch, found)
    presorted = implied is None and not found["chunk_lines"] and _presorted(found)
    derived = None
    if implied is not None:
        first_lines = records.as_node_journal_line(records.implied(implied), origin="implied")
        bounds, derived = {"n": (1, found["high"])}, first_lines.select("namespace", "record_id")
        rows.append(first_lines)
    if found["chunk_lines"]:
        # The chunks are in the order of the table, so only the other rows are sorted.
        chunk_rows, *others = rows
        rows = [chunk_rows]
        if others:
            rows.append(laid_out(union(others), contract(LINES)))
        presorted = True
    return TableInsert(LINES, union(rows), buckets, bounds, presorted=presorted, derived_keys=derived)


def _resource_insert(
    batch: Batch, totals: Totals, has_announced: bool, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> TableInsert | None:
    """Return the new resources of local nodes: announced ones, and those on restored lines."""
    local = local_nodes(request.options)
    found: list[DataFrame] = []
    if has_announced:
        announced = with_record_source(batch.facts.where(elements.is_announced()), batch.sources)
        found.append(resources.announced(announced))
    if local.restore and totals["buckets"]:
        received = _received(batch.facts, batch.heads, totals)
        restored = node_rows(tables, local.restore)
        found.append(
            resources.restored(
                received.join(F.broadcast(restored.select("namespace")), "namespace", "left_semi")
            )
        )
    if not found:
        return None
    newest = tables.read(RESOURCES).agg(F.max("ingest_no").alias("last"))
    ingest_no = 1 + (jobs.row(newest)["last"] or 0)
    rows = resources.as_node_resource(union(found), ingest_no, tables.buckets)
    rows = jobs.checkpoint(rows, "resources of local nodes")
    buckets = sorted_buckets(jobs.row(rows.agg(F.collect_set("bucket").alias("buckets"))))
    derived_keys = rows.where("origin = 'restored'").select("namespace", "author_fp", "resource_id")
    return TableInsert(RESOURCES, rows, buckets, derived_keys=derived_keys) if buckets else None


def _presorted(found: Totals) -> bool:
    """Return whether the lines are laid out as the table needs: ascending, many lines per bucket and part."""
    return not found["overlapping"] and found["new_lines"] >= _LARGE_PART_LINES * found["part_buckets"]


def _implied(batch: Batch, tables: Tables, jobs: Jobs, buckets: tuple[int, ...]) -> DataFrame | None:
    """Return the nodes whose line 1 was not delivered and of which no line is stored, or None.

    `buckets` are those of the accepted segments that are not known; of a known one line 1 is stored.
    """
    bare = (
        batch.heads.where("n IS NOT NULL AND NOT is_known")
        .groupBy("namespace", "bucket", "node")
        .agg(F.max("has_stored").alias("has_stored"), F.min("n").alias("low"))
        .where("NOT has_stored AND low > 1")
    )
    stored = tables.read(LINES).where(in_buckets(buckets) & (F.col("n") == 1)).select("namespace")
    implied = jobs.checkpoint(bare.join(stored, "namespace", "left_anti"), "first lines")
    return implied if jobs.has_rows(implied) else None


def sorted_buckets(row: Totals | Row) -> tuple[int, ...]:
    """Return the buckets that `collect_set` found, sorted."""
    return tuple(sorted(row["buckets"]))

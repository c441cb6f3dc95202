"""Logs as a CAR, which other lakes and nodes read, and as lines of JSON for `sync --from`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot, OtherLakeSnapshot
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.codec import MAX_ROOTS_WRITTEN, car_header, parse_cid
from strandline.dialects.ipfslog.spark import dag, logs
from strandline.dialects.ipfslog.spark.logs import ORDER
from strandline.dialects.ipfslog.spark.tables import ENTRIES, IDENTITIES, MANIFESTS
from strandline.dialects.ipfslog.types import Cid
from strandline.frames.lift import map_batches
from strandline.frames.namespaces import only_namespaces
from strandline.frames.union import union
from strandline.kernels.packing import FILE_SCHEMA

PARTITION_BYTES: Final = 32 * 1024 * 1024
PLACE: Final = ("place", "namespace", *ORDER)
COLUMNS: Final = (*dag.NODE, "next", "identity_digest", "block")


def export(lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
    """Return a CAR of logs: identities of writers, manifests that log ids commit to, and entries.

    The roots are the heads, for each log the newest first.
    """
    entries = only_namespaces(lake.read(ENTRIES).select(*COLUMNS), namespaces, lake.buckets)
    identities = jobs.persist(_only_named(lake.read(IDENTITIES), entries), "identities")
    chains = logs.chains(logs.counted(entries), lake.read(MANIFESTS))
    manifests = jobs.persist(_only_followed(lake.read(MANIFESTS), chains), "manifests")
    heads = jobs.checkpoint(dag.as_head(_heads(entries)), "heads")
    placed = _blocks(identities, manifests, entries)
    found = jobs.row(
        placed.agg(
            F.coalesce(F.sum(F.length("block")), F.lit(0)).alias("bytes"),
            F.count_if(F.col("place") == 0).alias("identities"), F.count_if(F.col("place") == 1).alias("manifests"),
        )
    )  # fmt: skip
    roots = _roots(heads, jobs)
    counts = {
        "heads": jobs.row(heads.agg(F.count(F.lit(1)).alias("rows")))["rows"],
        "roots": len(roots), "identities": found["identities"], "manifests": found["manifests"],
    }  # fmt: skip
    return ExportFile(
        form="CAR",
        head=car_header(roots),
        rows=_sections(placed, found["bytes"]),
        ids=entries.select("namespace", "record_id"),
        heads=heads.select("namespace", "record_id"),
        counts=counts,
    )


def _roots(heads: DataFrame, jobs: Jobs) -> list[bytes]:
    """Return the content addresses of the first heads, at most as many as a header may have."""
    order = ("namespace", "rank")
    first = heads.orderBy(*order).limit(MAX_ROOTS_WRITTEN)
    listed = F.array_sort(F.collect_list(F.struct(*order, "cid")))
    cids = (parse_cid(each["cid"]) for each in jobs.row(first.agg(listed.alias("heads")))["heads"])
    return [cid.raw for cid in cids if isinstance(cid, Cid)]


def to_files(rows: Mapping[str, DataFrame], _there: OtherLakeSnapshot, _jobs: Jobs) -> DataFrame:
    """Write blocks as lines of JSON, a document each, so that a bad block does not affect the others.

    Reads:  block, of each frame.
    Gives:  format, content (BINARY).
    Rows:   one per file of about a MiB; each block is in one.
    """
    blocks = union(each.select("block") for each in rows.values())
    packed = map_batches(blocks, kernels.packed, FILE_SCHEMA)
    return packed.select(F.lit("lines").alias("format"), "content")


def _heads(entries: DataFrame) -> DataFrame:
    """Keep the entries that no entry of their log names in `next`.

    Reads:  namespace, record_id, next.
    Gives:  the columns of `entries`.
    Rows:   at least one per log, since a DAG has no cycles.
    """
    named = entries.select("namespace", F.explode("next").alias("record_id"))
    return entries.join(named, ["namespace", "record_id"], "left_anti")


def _only_named(identities: DataFrame, entries: DataFrame) -> DataFrame:
    """Keep the identities of entries.

    Reads:  identities: record_id; entries: identity_digest.
    Gives:  the columns of `identities`.
    Rows:   at most one per row.
    """
    named = entries.select(F.col("identity_digest").alias("record_id")).distinct()
    return identities.join(named, "record_id", "left_semi")


def _only_followed(manifests: DataFrame, chains: DataFrame) -> DataFrame:
    """Keep the manifests that logs commit to.

    Reads:  manifests: record_id; chains: `logs.chains`.
    Gives:  the columns of `manifests`.
    Rows:   at most one per row.
    """
    followed = chains.select(F.explode("manifests").alias("manifest"))
    named = followed.select(F.col("manifest.record_id").alias("record_id")).distinct()
    return manifests.join(named, "record_id", "left_semi")


def _blocks(identities: DataFrame, manifests: DataFrame, entries: DataFrame) -> DataFrame:
    """Give the blocks of a CAR: identities first, so that no entry has to wait, then manifests, then entries by k.

    Reads:  namespace, cid, block of each; clock_time, clock_id of entries.
    Gives:  PLACE, block.
    Rows:   one per row of each.
    """
    others = [
        rows.select(
            F.lit(place).alias("place"), "namespace", F.lit(0).cast("bigint").alias("clock_time"),
            F.lit("").alias("clock_id"), "cid", "block",
        )
        for place, rows in enumerate((identities, manifests))
    ]  # fmt: skip
    of_logs = entries.select(F.lit(len(others)).alias("place"), *PLACE[1:], "block")
    return others[0].unionByName(others[1]).unionByName(of_logs)


def _sections(placed: DataFrame, size: int) -> DataFrame:
    """Write blocks as sections of a CAR in file order, in partitions small enough for the memory of a task.

    Reads:  PLACE, block; `size` is the approximate number of bytes of all blocks.
    Gives:  content BINARY, records.
    Rows:   one per MiB or so.
    """
    in_order = placed.repartitionByRange(1 + size // PARTITION_BYTES, *PLACE).sortWithinPartitions(*PLACE)
    return map_batches(in_order, kernels.sections, FILE_SCHEMA)

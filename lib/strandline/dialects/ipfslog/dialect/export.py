"""Logs as a CAR that other lakes, and nodes, read."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.ipfslog.codec import MAX_ROOTS_WRITTEN, car_header, parse_cid
from strandline.dialects.ipfslog.dialect.batch import IDENTITIES, MANIFESTS
from strandline.dialects.ipfslog.dialect.retained import ENTRIES
from strandline.dialects.ipfslog.frames import dag, logs
from strandline.dialects.ipfslog.frames import export as ex
from strandline.dialects.ipfslog.types import Cid
from strandline.frames.namespaces import only_namespaces

COLUMNS = (*dag.NODE, "next", "identity_digest", "block")


def export(held: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
    """Return a CAR of logs: the identities of their writers, the manifests that their ids commit to, their entries.

    The roots are the heads, the newest of each log first.
    """
    entries = only_namespaces(held.read(ENTRIES).select(*COLUMNS), namespaces, held.buckets)
    identities = jobs.persist(ex.only_named(held.read(IDENTITIES), entries), "identities")
    chains = logs.chains(logs.counted(entries), held.read(MANIFESTS))
    manifests = jobs.persist(ex.only_followed(held.read(MANIFESTS), chains), "manifests")
    heads = jobs.checkpoint(dag.as_head(ex.heads(entries)), "heads")
    placed = ex.blocks(identities, manifests, entries)
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
        rows=ex.sections(placed, found["bytes"]),
        ids=entries.select("namespace", "record_id"),
        heads=heads.select("namespace", "record_id"),
        counts=counts,
    )


def _roots(heads: DataFrame, jobs: Jobs) -> list[bytes]:
    """Return the content addresses of heads, as many as a header holds."""
    order = ("namespace", "rank")
    first = heads.orderBy(*order).limit(MAX_ROOTS_WRITTEN)
    listed = F.array_sort(F.collect_list(F.struct(*order, "cid")))
    cids = (parse_cid(each["cid"]) for each in jobs.row(first.agg(listed.alias("heads")))["heads"])
    return [cid.raw for cid in cids if isinstance(cid, Cid)]

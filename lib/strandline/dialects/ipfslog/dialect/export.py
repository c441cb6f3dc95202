"""Logs as a CAR that other lakes, and nodes, read."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.base import Stage
from strandline.dialects.exporting import Exported, Held
from strandline.dialects.ipfslog.codec import MAX_ROOTS_WRITTEN, car_header, parse_cid
from strandline.dialects.ipfslog.dialect.batch import IDENTITIES, MANIFESTS
from strandline.dialects.ipfslog.dialect.held import ENTRIES
from strandline.dialects.ipfslog.frames import dag, logs
from strandline.dialects.ipfslog.frames import export as ex
from strandline.dialects.ipfslog.types import Cid
from strandline.frames.namespaces import only_namespaces

COLUMNS = (*dag.NODE, "next", "identity_digest", "block")


def export(held: Held, stage: Stage, namespaces: Sequence[str]) -> Exported:
    """Return a CAR of logs: the identities of their writers, the manifests that their ids commit to, their entries.

    The roots are the heads, the newest of each log first.
    """
    entries = only_namespaces(held.read(ENTRIES).select(*COLUMNS), namespaces, held.buckets)
    identities = stage.keep(ex.only_named(held.read(IDENTITIES), entries), "identities")
    chains = logs.chains(logs.counted(entries), held.read(MANIFESTS))
    manifests = stage.keep(ex.only_followed(held.read(MANIFESTS), chains), "manifests")
    heads = stage.settle(dag.as_head(ex.heads(entries)), "heads")
    placed = ex.blocks(identities, manifests, entries)
    found = stage.one(
        placed.agg(
            F.coalesce(F.sum(F.length("block")), F.lit(0)).alias("bytes"),
            F.count_if(F.col("place") == 0).alias("identities"), F.count_if(F.col("place") == 1).alias("manifests"),
        )
    )  # fmt: skip
    roots = _roots(heads, stage)
    counts = {
        "heads": stage.one(heads.agg(F.count(F.lit(1)).alias("rows")))["rows"],
        "roots": len(roots), "identities": found["identities"], "manifests": found["manifests"],
    }  # fmt: skip
    return Exported(
        form="CAR",
        head=car_header(roots),
        rows=ex.sections(placed, found["bytes"]),
        ids=entries.select("namespace", "record_id"),
        heads=heads.select("namespace", "record_id"),
        counts=counts,
    )


def _roots(heads: DataFrame, stage: Stage) -> list[bytes]:
    """Return the content addresses of heads, as many as a header holds."""
    order = ("namespace", "rank")
    first = heads.orderBy(*order).limit(MAX_ROOTS_WRITTEN)
    listed = F.array_sort(F.collect_list(F.struct(*order, "cid")))
    cids = (parse_cid(each["cid"]) for each in stage.one(first.agg(listed.alias("heads")))["heads"])
    return [cid.raw for cid in cids if isinstance(cid, Cid)]

"""The limit of heads and missing parents of a log: one row has them, and one task hashes them."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.dialect_api.refusals import Refusal, Refused, refused

MOST_LINKS: Final = 1_000_000
"""Heads and missing parents of one log. Each takes some hundred bytes of a task, in Spark and in Python: an entry can
name 50,000 parents that do not exist.
"""


def counted(heads: DataFrame, missing: DataFrame) -> DataFrame:
    """Count heads and links to missing parents of logs: no fewer than these parents, which take another shuffle.

    Reads:  heads: namespace, of each head; missing: namespace, of each link to a missing parent.
    Gives:  namespace, links.
    Rows:   one per log with a link.
    """
    each = heads.select("namespace").unionByName(missing.select("namespace"))
    return each.groupBy("namespace").agg(F.count(F.lit(1)).alias("links"))


def may_be_too_many() -> Column:
    """Return whether a log may have more heads and missing parents than one task hashes.  Reads: `counted`."""
    return F.col("links") > MOST_LINKS


def refused_logs(heads: DataFrame, missing: DataFrame, jobs: Jobs) -> Refused | None:
    """Refuse the logs with more heads and missing parents than one task hashes: of entries that name one, it is one.

    Reads:  heads: namespace, of each head; missing: namespace, parent, of each link to a missing parent.
    """
    parents = missing.select("namespace", "parent").distinct()
    return refused(counted(heads, parents).where(F.col("links") > MOST_LINKS), jobs, _refusal)


def _refusal(log: Row) -> Refusal:
    return Refusal(
        log["namespace"],
        f"The log {log['namespace']} has {log['links']:,} heads and missing parents, and a reduction takes "
        f"{MOST_LINKS:,}.",
        next="Ingest the missing parents, or exclude the writer.",
    )

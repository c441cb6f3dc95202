"""The limit of the links of a log: one row has its heads and its missing parents, and one task hashes them."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.dialect_api.refusals import Refusal, Refused, refused

MOST_LINKS: Final = 1_000_000
"""Heads and links to missing parents of one log. A link takes some hundred bytes of a task, in Spark and in Python: an
entry can name 50,000 parents that do not exist.
"""


def counted(heads: DataFrame, missing: DataFrame) -> DataFrame:
    """Count the links of logs.

    Reads:  heads: namespace, of each head; missing: namespace, of each link to a missing parent.
    Gives:  namespace, links.
    Rows:   one per log with a link.
    """
    each = heads.select("namespace").unionByName(missing.select("namespace"))
    return each.groupBy("namespace").agg(F.count(F.lit(1)).alias("links"))


def are_too_many() -> Column:
    """Return whether a log has more links than one task hashes.  Reads: links (null: none)."""
    return F.col("links") > MOST_LINKS


def refused_logs(counted: DataFrame, jobs: Jobs) -> Refused | None:
    """Refuse the logs with more links than one task hashes.

    Reads:  namespace, links; one row per log.
    """
    return refused(counted.where(are_too_many()).select("namespace", "links"), jobs, _refusal)


def _refusal(log: Row) -> Refusal:
    return Refusal(
        log["namespace"],
        f"The log {log['namespace']} has {log['links']:,} heads and links to missing parents, and a reduction takes "
        f"{MOST_LINKS:,}.",
        next="Ingest the missing parents, or exclude the writer.",
    )

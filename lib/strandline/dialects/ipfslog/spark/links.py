"""The limit of the links of a log: one row has its heads and its missing parents, and one task hashes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.reduction import Refusal

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


def over_limit() -> Column:
    """Collect the logs with more links than one task hashes.

    Reads:  namespace, links (null: none).
    """
    too_many = F.when(F.col("links") > MOST_LINKS, F.struct("namespace", "links"))
    return F.sort_array(F.collect_list(too_many))


def refusals(found: Sequence[Row]) -> tuple[Refusal, ...]:
    """Refuse the logs of `over_limit`."""
    return tuple(
        Refusal(
            each["namespace"],
            f"The log {each['namespace']} has {each['links']:,} heads and links to missing parents, and a reduction "
            f"takes {MOST_LINKS:,}.",
            next="Ingest the missing parents, or exclude the writer.",
        )
        for each in found
    )

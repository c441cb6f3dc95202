"""Namespaces of Aura journals: of authorities and of contexts."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.types import NamespaceKind

KINDS: Final[tuple[NamespaceKind, ...]] = ("authority", "context")
_ID_AT: Final = len("authority:") + 1


def is_of(kind: NamespaceKind) -> Column:
    """Return whether the namespace of a row is of this kind."""
    return F.startswith("namespace", F.lit(f"{kind}:"))


def authority_uuid() -> Column:
    """Return the id (uuid) in the namespace of an authority, as `authority`."""
    return F.substring("namespace", _ID_AT, 36).alias("authority")


def authority_namespace() -> Column:
    """Return the namespace of the authority with the id (uuid) in the column `authority`."""
    return F.concat(F.lit("authority:"), "authority")


def of_members(contexts: DataFrame, states: DataFrame, name: str) -> DataFrame:
    """Return the states of the members of contexts, those of one context as a list in the column `name`.

    Reads:  contexts: namespace, members; states: namespace (of an authority), commitment.
    Gives:  namespace, `name` (ascending).  Rows: one per context with a member that has a state.
    """
    each = contexts.select("namespace", F.explode("members").alias("authority"))
    found = each.withColumn("member", authority_namespace()).join(
        states.select(F.col("namespace").alias("member"), "commitment"), "member"
    )
    pair = F.struct(F.col("member").alias("namespace"), "commitment")
    return found.groupBy("namespace").agg(F.sort_array(F.collect_list(pair)).alias(name))

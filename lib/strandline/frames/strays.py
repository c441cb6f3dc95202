"""Stored rows of reduced namespaces that are no rows any more: a reduction deletes them."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract


def strays(table: str, stored: DataFrame, rows: DataFrame, namespaces: DataFrame) -> DataFrame:
    """Return the keys of stored rows of these namespaces that a reduction does not have.

    Reads:  stored: rows of `table`; rows: its key, of all reduced rows of these namespaces; namespaces: namespace. A
            hint of `namespaces` is one of the join with them.
    Gives:  bucket and the key of `table`.
    Rows:   one per stored row of these namespaces whose key is not in `rows`.
    """
    described = contract(table)
    theirs = stored.select("bucket", *described.key).join(
        namespaces.select("namespace"), "namespace", "left_semi"
    )
    is_same: list[Column] = [F.expr(described.equal(name, "t", "s")) for name in described.key]
    found = rows.select(*described.key)
    return theirs.alias("t").join(found.alias("s"), reduce(Column.__and__, is_same), "left_anti")

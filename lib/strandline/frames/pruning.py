"""The boundary, and the comparison of two reductions, in functions of Spark."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.frames.sets import set_hashes
from strandline.frames.union import union

GENERATION = "decimal(20,0)"


def boundary(greatest: Column, skip_window: Column | int) -> Column:
    """Return the first generation that stays; equals `core.pruning.compute_checkpoint_pruning_boundary`.

    Reads:  the greatest generation, any exact number up to 2^64 - 1; the window, a number or a BIGINT.
    Gives:  DECIMAL(20,0).
    """
    window = skip_window if isinstance(skip_window, Column) else F.lit(skip_window).cast("bigint")
    below = 2 * window + F.shiftright(window, 1)
    left = greatest.cast("decimal(21,0)") - below.cast("decimal(21,0)")
    return F.greatest(left, F.lit(0).cast("decimal(21,0)")).cast(GENERATION)


def row_hashes(reduced: Mapping[str, DataFrame]) -> DataFrame:
    """Hash the rows of reduced tables: equal rows have equal hashes, in whatever order.

    Reads:  rows by table, with any of the columns that the contract compares.
    Gives:  namespace, place (`<table> <key as JSON>`), value (SHA-256).
    Rows:   one per row.
    """
    return union(_hashed(table, rows) for table, rows in sorted(reduced.items()))


def _hashed(table: str, rows: DataFrame) -> DataFrame:
    described = contract(table)
    compared = [name for name in described.compared if name in rows.columns]
    key = F.to_json(F.struct(*described.key))
    # The JSON of a row leaves out nulls, so names keep apart what values alone would not.
    row = F.concat(F.lit(f"{table}\n"), F.to_json(F.struct(*compared)))
    return rows.select(
        "namespace",
        F.concat(F.lit(f"{table} "), key).alias("place"),
        F.unhex(F.sha2(row.cast("binary"), 256)).alias("value"),
    )


def totals(hashes: DataFrame, side: str) -> DataFrame:
    """Return the set hash and the number of all reduced rows of each namespace.

    Reads:  `row_hashes`.  Gives: namespace, `<side>_hash`, `<side>_rows`.  Rows: one per namespace.
    """
    found = set_hashes(hashes.select("namespace", "value"))
    return found.select(
        "namespace", F.col("set_hash").alias(f"{side}_hash"), F.col("size").alias(f"{side}_rows")
    )


def differing(before: DataFrame, after: DataFrame) -> DataFrame:
    """Return the places at which two reductions have different rows.

    Reads:  `row_hashes`, twice.  Gives: namespace, place.  Rows: one per place.
    """
    key = ["namespace", "place", "value"]
    either = before.join(after, key, "left_anti").unionByName(after.join(before, key, "left_anti"))
    return either.select("namespace", "place").distinct()

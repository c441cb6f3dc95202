"""Checks rows of another lake against the rules of their table's contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, StructType

from strandline.contracts.rules import KEY_RULES

BROKEN: Final = "broken_rules"
BREAKS_CONTRACT: Final = "ROW_BREAKS_CONTRACT"
SHOWN_CHARS: Final = 4096
"""Maximum characters of a value that the quarantine stores of such a row; only for people."""
_SHOWN: Final = {"ignoreNullFields": "false", "timeZone": "UTC"}
"""The id of a finding has the text of its row: the same in each session, whatever its time zone."""


def is_comparable() -> Column:
    """Return whether bucket, namespace and record_id are valid, so that records can be compared; never null."""
    return reduce(Column.__and__, map(_holds, KEY_RULES.values()))


def with_broken_rules(rows: DataFrame, rules: Mapping[str, str]) -> DataFrame:
    """Add the names of the rules that a row breaks.

    Reads:  the columns in `rules` (name: SQL condition).
    Gives:  the columns of `rows`, broken_rules ARRAY<STRING> in the order of `rules`.
    Rows:   one per row.
    """
    broken = (F.when(~_holds(rule), F.lit(name)) for name, rule in rules.items())
    return rows.withColumn(BROKEN, F.array_compact(F.array(*broken)))


def keeps_contract() -> Column:
    """Return whether a row breaks no rule."""
    return F.size(BROKEN) == 0


def as_findings(rows: DataFrame, columns: Sequence[str], *, table: str, lake: str) -> DataFrame:
    """Shape rows that break the contract of their table to findings.

    Reads:  `columns` of the table, broken_rules.
    Gives:  FINDING_COLUMNS of `frames.quarantine`. The namespace is null, since that of such a row is not trusted.
    Rows:   one per row. `raw` is the row as JSON, long values cut.
    """
    shown = F.struct(*(_shown(rows, name).alias(name) for name in columns))
    raw = F.to_json(F.struct(F.lit(table).alias("table"), shown.alias("row")), _SHOWN)
    evidence = F.struct(F.lit(lake).alias("lake"), F.col(BROKEN).alias("rules"), F.lit(table).alias("table"))
    findings = rows.select(
        raw.cast("binary").alias("raw"),
        F.to_json(F.struct(evidence.alias(BREAKS_CONTRACT))).alias("evidence"),
    )
    return findings.select(
        F.lit(None).cast("string").alias("namespace"),
        F.lit("record").alias("scope"),
        F.lit("rejected").alias("status"),
        F.array(F.lit(BREAKS_CONTRACT)).alias("reasons"),
        F.lit(None).cast("binary").alias("record_id"),
        "raw",
        F.length("raw").cast("bigint").alias("raw_bytes"),
        F.lit(None).cast("binary").alias("raw_sha256"),
        F.array().cast("array<string>").alias("waits_for"),
        "evidence",
        F.lit(lake).alias("source"),
        F.lit(None).cast("bigint").alias("source_offset"),
        F.lit(0).alias("order_key"),
    )


def _holds(rule: str) -> Column:
    return F.coalesce(F.expr(rule), F.lit(False))


def _shown(rows: DataFrame, name: str) -> Column:
    kind = rows.schema[name].dataType
    nested = isinstance(kind, ArrayType | MapType | StructType)
    value = F.to_json(name) if nested else F.col(name)
    return (
        F.substring(value, 1, SHOWN_CHARS) if nested or kind.simpleString() in ("string", "binary") else value
    )

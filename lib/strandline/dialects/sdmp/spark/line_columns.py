"""What the columns of an element or a line say: its namespace or node, its number, its form and its hash."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from strandline.dialects.sdmp.codec import ID_CHARS


def namespace() -> Column:
    """Return the namespace of an element's node."""
    return F.concat(F.lit("node:"), F.col("node"))


def node() -> Column:
    """Return the fingerprint of a node from its namespace."""
    return F.substring_index("namespace", ":", -1)


def number_of(raw: Column, node: Column) -> Column:
    """Return the number of a line n > 1: its first characters, as many as the fingerprint of its node has."""
    return F.substring(raw, F.lit(1), F.length(node)).cast("string")


def number_or_null() -> Column:
    """Return the number of an element with the form of a line; null for line 1."""
    is_first = F.length("raw") == F.length("node")
    return F.when(~is_first, number_of(F.col("raw"), F.col("node")))


def is_long_form(node: Column) -> Column:
    """True for ids of profile 0.12, which are longer."""
    return F.length(node) == ID_CHARS["0.12"]


def line_hash(line: Column, node: Column) -> Column:
    """Return H(line) in the profile of the node, computed by Spark's functions. `line` is BINARY."""
    long = F.base64(F.unhex(F.sha2(line, 512)))
    return F.when(is_long_form(node), F.translate(long, "+/=\r\n", "-_")).otherwise(F.sha2(line, 256))

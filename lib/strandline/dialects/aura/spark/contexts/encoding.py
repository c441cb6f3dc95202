"""Bytes of canonical rows in SQL: little-endian numbers, ids, texts, tagged hashes, and the hash of a set of rows."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.core.hashing import SET_BUCKET_TAG, bucket_hash

_EMPTY_BUCKET: Final = bucket_hash([]).hex().upper()
_CONTEXT: Final = b"\x01"
_SMALL_CBOR: Final = 24
"""Numbers below it are one byte of CBOR."""

# Texts of SQL: each function of a Column costs the driver several calls of the JVM.
_ORDERED: Final = "unhex(array_join(sort_array(collect_list(hex(row_hash))), ''))"
"""The hashes of one group in one value: Spark keeps such lists of up to 128 groups of a task in memory, then sorts."""
_FOUND: Final = "map_from_entries(collect_list(struct(first, digest)))"
"""At most 256 digests."""
_PLACED: Final = (
    "unhex(array_join(transform(sequence(0, 255), "
    f"at -> coalesce(element_at(found, lpad(hex(at), 2, '0')), '{_EMPTY_BUCKET}')), ''))"
)

_ID_AT: Final = len("context:") + 1


def u64(number: Column) -> Column:
    """Return the 8 bytes of a number, little-endian."""
    return F.unhex(_little_endian(number, 8))


def u32(number: Column) -> Column:
    """Return the 4 bytes of a number, little-endian."""
    return F.unhex(_little_endian(number, 4))


def _little_endian(number: Column, width: int) -> Column:
    digits = F.lpad(F.conv(number.cast("string"), 10, 16), 2 * width, "0")
    # One expression in place of one per byte: each costs the driver several calls of the JVM.
    reversed_ = "".join(f"${at}" for at in range(width, 0, -1))
    return F.regexp_replace(digits, "(..)" * width, reversed_)


def cbor_number(number: Column) -> Column:
    """Return the CBOR of a number from 0 to 2^64 - 1, as hex."""
    digits = F.conv(number.cast("string"), 10, 16)
    found = F.concat(F.lit("1B"), F.lpad(digits, 16, "0"))
    for head, width in (("1A", 8), ("19", 4), ("18", 2)):
        found = F.when(
            F.length(digits) <= width, F.concat(F.lit(head), F.lpad(digits, width, "0"))
        ).otherwise(found)
    return F.when(number < _SMALL_CBOR, F.lpad(digits, 2, "0")).otherwise(found)


def id_bytes(uuid: Column) -> Column:
    """Return the 16 bytes of a uuid."""
    return F.unhex(id_hex(uuid))


def id_hex(uuid: Column) -> Column:
    """Return the 32 hexadecimal digits of a uuid."""
    return F.replace(uuid, F.lit("-"), F.lit(""))


def context_id(namespace: Column) -> Column:
    """Return the 16 bytes of the id of a context."""
    return id_bytes(F.substring(namespace, _ID_AT, 36))


def sized(data: Column) -> Column:
    """Return the length of bytes or of a text in 4 bytes, then the bytes."""
    return F.concat(u32(F.octet_length(data)), data.cast("binary"))


def optional(number: Column) -> Column:
    """Return 00 for null, else 01 and 8 bytes."""
    return F.when(number.isNull(), F.lit(b"\x00")).otherwise(F.concat(F.lit(b"\x01"), u64(number)))


def texts(values: Column) -> Column:
    """Return the number of texts of an array in 4 bytes, then each with its length."""
    return F.concat(u32(F.size(values)), F.unhex(F.array_join(F.transform(values, _sized_hex), "")))


def numbers_by_name(entries: Column) -> Column:
    """Return the number of structs (name, limit) of an array in 4 bytes, then each name with its length and 8 bytes."""
    each = F.transform(
        entries, lambda entry: F.concat(_sized_hex(entry["name"]), _little_endian(entry["limit"], 8))
    )
    return F.concat(u32(F.size(entries)), F.unhex(F.array_join(each, "")))


def _sized_hex(text: Column) -> Column:
    return F.concat(_little_endian(F.octet_length(text), 4), F.hex(F.encode(text, "UTF-8")))


def tagged(tag: str, *data: Column) -> Column:
    """Return SHA-256 over the tag, 00 and the data, 32 bytes."""
    return F.unhex(F.sha2(F.concat(F.lit(tag.encode() + b"\x00"), *data), 256))


def row_hash(row: Column) -> Column:
    """Return the hash of a canonical row."""
    return tagged("strandline/aura/state-row/1", row)


def state_hashes(contexts: DataFrame, hashes: DataFrame) -> DataFrame:
    """Return the state hash of each context, of those without rows too.

    Reads:  contexts: namespace; hashes: namespace, row_hash (each once in its namespace).
    Gives:  the columns of `contexts`, state_hash.
    Rows:   one per context. A group has the hashes of one namespace with one first byte, some hundred bytes each: one
            in 256 of its rows, or all if a sender chose rows by their hashes. A task holds up to 128 groups at a time.
    """
    buckets = hashes.groupBy("namespace", F.substring(F.hex("row_hash"), 1, 2).alias("first")).agg(
        F.count(F.lit(1)).alias("size"),
        F.hex(tagged(SET_BUCKET_TAG, F.expr(_ORDERED))).alias("digest"),
    )
    sets = buckets.groupBy("namespace").agg(F.sum("size").alias("size"), F.expr(_FOUND).alias("found"))
    joined = contexts.join(sets, "namespace", "left")
    digest = tagged("strandline/set/1", u64(F.expr("coalesce(size, 0L)")), F.expr(_PLACED))
    state = tagged("strandline/aura/context-state/1", F.lit(_CONTEXT), context_id(F.col("namespace")), digest)
    return joined.select(*contexts.columns, state.alias("state_hash"))

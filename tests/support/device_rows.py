"""Entries and stored rows of device logs as batches, as Spark gives them to kernels."""

from itertools import islice

import pyarrow as pa

from strandline.core.ids import bucket_of
from strandline.dialects.devicelog.codec import write_body
from strandline.dialects.devicelog.kernels.headers import HEADER_COLUMNS, NO_STATEMENT
from strandline.dialects.devicelog.kernels.increments import STORED
from strandline.dialects.devicelog.kernels.schemas import PARTS
from support.places import BUCKETS

HEADER_TYPES = {
    "bucket": pa.int32(), "seq": pa.int64(), "lamport": pa.int64(), "utc": pa.int64(), "namespace": pa.string(),
    "profile": pa.string(), "kind": pa.string(), "deps": pa.list_(pa.binary()),
}  # fmt: skip
HEADERS = pa.schema([(name, HEADER_TYPES.get(name, pa.binary())) for name in HEADER_COLUMNS])


def _struct(part, names):
    types = {name: field.type for name, field in zip(HEADERS.names, HEADERS, strict=True)}
    types |= {"entry_count": pa.int64(), **PARTS.get(part, {})}
    return pa.struct([(name, types[name]) for name in names])


STORED_ROWS = pa.schema([
    ("namespace", pa.string()), ("bucket", pa.int32()), ("part", pa.string()),
    *((part, _struct(part, names)) for part, names in STORED.items()),
])  # fmt: skip
"""The input of an increment."""


def row_of(entry):
    """The header of an entry, by HEADER_COLUMNS."""
    values = {name: getattr(entry, name, None) for name in HEADER_COLUMNS}
    values |= {"bucket": bucket_of(entry.namespace, BUCKETS), "deps": list(entry.deps)}
    return values | {"body": None if entry.kind in NO_STATEMENT else write_body(entry.statement)}


def batches(groups, size):
    """Headers of groups in batches of `size` rows."""
    rows = (row_of(entry) for entries in groups for entry in entries)
    while some := list(islice(rows, size)):
        yield pa.RecordBatch.from_pylist(some, schema=HEADERS)


def stored_batches(namespace, bucket, parts, size=8192):
    """Stored rows of one group by part, and news, in batches of `size` rows."""
    rows = (
        {
            "namespace": namespace,
            "bucket": bucket,
            "part": part,
            part: {name: row[name] for name in STORED[part]},
        }
        for part, found in parts.items()
        for row in found
    )
    while some := list(islice(rows, size)):
        yield pa.RecordBatch.from_pylist(some, schema=STORED_ROWS)


def stored_parts(tables):
    """The rows of the reduced tables of one group that an increment reads; `tables` are rows by part."""
    view = [row for row in tables["view"] if row["position"] is not None]
    final = sorted((row for row in view if row["final"]), key=lambda row: row["position"])
    screws = {row["log"]: row for row in sorted(tables["screw"], key=lambda row: row["seq"])}
    return {
        "tip": tables["tip"], "view": [row for row in view if not row["final"]] + final[-1:],
        "screw": screws.values(), "state": tables["state"],
    }  # fmt: skip


def total(*entries):
    """How many entries a group has, as an increment reads it."""
    return [{"entry_count": sum(map(len, entries))}]


def in_windows(entries, found):
    """The entries that `windows` asks for."""
    asked = {row["log"]: row for batch in found for row in batch.to_pylist()}
    held = [each for each in entries if each.log in asked]
    return [each for each in held if asked[each.log]["above"] < each.seq <= asked[each.log]["upto"]]

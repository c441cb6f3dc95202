"""Entries and stored rows of device logs as batches, as Spark gives them to kernels."""

import pyarrow as pa

from strandline.core.ids import bucket_of
from strandline.dialects.devicelog.codec import write_body
from strandline.dialects.devicelog.kernels.headers import HEADER_COLUMNS, NO_STATEMENT
from strandline.dialects.devicelog.kernels.increments import STORED
from strandline.dialects.devicelog.kernels.schemas import PARTS

HEADER_TYPES = {
    "bucket": pa.int32(), "seq": pa.int64(), "lamport": pa.int64(), "utc": pa.int64(), "namespace": pa.string(),
    "profile": pa.string(), "kind": pa.string(), "deps": pa.list_(pa.binary()),
}  # fmt: skip
HEADERS = pa.schema([(name, HEADER_TYPES.get(name, pa.binary())) for name in HEADER_COLUMNS])


def _struct(part, names):
    types = PARTS[part] if part in PARTS else {name: HEADERS.field(name).type for name in names}
    return pa.struct([(name, types[name]) for name in names])


STORED_ROWS = pa.schema([
    ("namespace", pa.string()), ("bucket", pa.int32()), ("part", pa.string()),
    *((part, _struct(part, names)) for part, names in STORED.items()),
])  # fmt: skip
"""The input of an increment."""


def row_of(entry):
    """The header of an entry, by HEADER_COLUMNS."""
    values = {name: getattr(entry, name, None) for name in HEADER_COLUMNS}
    values |= {"bucket": bucket_of(entry.namespace, 16), "deps": list(entry.deps)}
    return values | {"body": None if entry.kind in NO_STATEMENT else write_body(entry.statement)}


def batches(groups, size):
    """Headers of groups in batches of `size` rows."""
    rows = [row_of(entry) for entries in groups for entry in entries]
    for at in range(0, len(rows), size):
        yield pa.RecordBatch.from_pylist(rows[at : at + size], schema=HEADERS)

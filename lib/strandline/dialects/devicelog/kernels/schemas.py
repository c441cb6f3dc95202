"""The columns of the reduced tables of device logs, besides namespace and bucket."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

_ID: Final = pa.binary()
_LONG: Final = pa.int64()
BOUNDS: Final = pa.list_(pa.struct([pa.field("branch", _ID), pa.field("seq", _LONG)]))

_ENTRY: Final = {"record_id": _ID, "log": _ID, "branch": _ID, "seq": _LONG, "lamport": _LONG, "utc": _LONG}

VIEW_COLUMNS: Final = _ENTRY | {
    "status": pa.string(), "final": pa.bool_(), "position": _LONG, "previous": _ID, "prefix_hash": _ID,
}  # fmt: skip
SCREW_COLUMNS: Final = _ENTRY | {
    "rewind": _LONG, "n_before": _LONG, "n_after": _LONG, "v_rewind": _ID, "v_before": _ID, "v_after": _ID,
    "from_heads": pa.list_(_ID), "before_bounds": BOUNDS, "after_bounds": BOUNDS, "verdict": pa.string(),
    "past_earlier": pa.bool_(),
}  # fmt: skip
TIP_COLUMNS: Final = {
    "log": _ID, "status": pa.string(), "record_id": _ID, "branch": _ID, "seq": _LONG, "lamport": _LONG, "utc": _LONG,
    "label": pa.string(), "seniority": pa.int32(), "granted_by": _ID, "cut_seq": _LONG, "cut_id": _ID,
    "removed_by": _ID, "past": BOUNDS, "bounds": BOUNDS, "behind": _LONG, "forked": pa.bool_(), "waited": pa.bool_(),
    "gaps": _LONG,
}  # fmt: skip
MEMBER_COLUMNS: Final = {
    "record_id": _ID, "author": _ID, "log": _ID, "act": pa.string(), "verdict": pa.string(), "last_seq": _LONG,
    "last_id": _ID,
}  # fmt: skip
STATE_COLUMNS: Final = {"state_hash": _ID, "record_count": _LONG}

PARTS: Final = {
    "state": STATE_COLUMNS, "view": VIEW_COLUMNS, "screw": SCREW_COLUMNS, "tip": TIP_COLUMNS,
    "member": MEMBER_COLUMNS,
}  # fmt: skip
"""Columns by part. A reduced row has exactly one part; the structs of the others are null."""

REDUCED_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("bucket", pa.int32()),
        pa.field("part", pa.string()),
        *(
            pa.field(part, pa.struct([pa.field(name, kind) for name, kind in columns.items()]))
            for part, columns in PARTS.items()
        ),
    ]
)

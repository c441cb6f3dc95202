"""Rows of `equivocation` as kernels give them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

EQUIVOCATION_SCHEMA: Final = pa.schema(
    {
        "equivocation_id": pa.binary(), "namespace": pa.string(), "bucket": pa.int32(), "dialect": pa.string(),
        "kind": pa.string(), "key": pa.string(), "position": pa.string(), "members": pa.list_(pa.binary()),
        "member_count": pa.int64(), "bytes_a": pa.binary(), "bytes_b": pa.binary(), "attributable": pa.bool_(),
        "evidence": pa.string(),
    }
)  # fmt: skip
"""The columns of `equivocation`."""

_SHARED: Final = ("dialect", "kind", "attributable")
FORK_SCHEMA: Final = pa.schema([field for field in EQUIVOCATION_SCHEMA if field.name not in _SHARED])
"""The columns that `frames.states.as_equivocation` reads: all but those that are equal for all forks of a dialect."""

_HOME: Final = ("namespace", "bucket")
NESTED_FIELDS: Final = tuple(field for field in EQUIVOCATION_SCHEMA if field.name not in _HOME)
"""The columns of `equivocation` in a row that has a namespace and its bucket."""

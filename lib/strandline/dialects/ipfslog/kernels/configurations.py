"""The configuration of each log, row by row: from the operator's file, or from the manifests that its id commits to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from strandline.dialects.ipfslog.reduce import (
    Carry,
    LogConfiguration,
    access_digest,
    configuration_of,
    database_digest,
    decode_carry,
)
from strandline.dialects.ipfslog.types import Manifest
from strandline.kernels.batches import as_batch

CONFIGURATION_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("store", pa.string()),
        pa.field("write", pa.list_(pa.string())),
        pa.field("whence", pa.string()),
        pa.field("depends_on", pa.list_(pa.binary())),
        pa.field("reducer_version", pa.string()),
        pa.field("configuration", pa.string()),
        pa.field("is_refused", pa.bool_()),
        pa.field("is_bereft", pa.bool_()),
    ]
)
MANIFEST_COLUMNS: Final = ("record_id", "kind", "type", "access", "write")


def configurations(
    batches: Iterable[pa.RecordBatch], *, operator_config: Mapping[str, LogConfiguration]
) -> Iterator[pa.RecordBatch]:
    """Yield store and write list of each log.

    Reads: namespace, log_id, manifests (ARRAY<STRUCT<MANIFEST_COLUMNS>>: the stored ones of the chain), carry (for a
            log with pruned entries, else null; empty if it is gone); `operator_config` is the operator's file.
    Gives: CONFIGURATION_SCHEMA: `depends_on` in the order in which the manifests were followed; `is_refused`: entries
            of the log are pruned, and the file differs from the configuration of their snapshot; `is_bereft`: entries
            of the log are pruned, and their carry is gone or cannot be read.
    """
    for batch in batches:
        rows = []
        columns = (batch.column(name).to_pylist() for name in ("namespace", "log_id", "manifests", "carry"))
        for namespace, log_id, manifests, raw in zip(*columns, strict=True):
            found = configuration_of(log_id, operator_config, [_manifest(each) for each in manifests])
            carry = _carry(raw)
            is_refused = carry is not None and found.whence == "config" and not carry.agrees(found)
            found = found if carry is None else carry.configuration_of(found)
            rows.append(
                (
                    namespace, found.store, list(found.write), found.whence, list(found.depends_on),
                    found.reducer_version, found.as_json, is_refused, raw is not None and carry is None,
                )
            )  # fmt: skip
        if rows:
            yield as_batch(rows, CONFIGURATION_SCHEMA)


def _carry(raw: bytes | None) -> Carry | None:
    try:
        return decode_carry(raw or b"")
    except ValueError:
        return None


def _manifest(row: Mapping[str, Any]) -> Manifest:
    write = row["write"]
    return Manifest(
        row["record_id"], b"", "", row["kind"], type=row["type"], access=row["access"],
        write=None if write is None else tuple(write),
    )  # fmt: skip


def database_digests(log_ids: pd.Series) -> pd.Series:
    """Return the digest of the database manifest that each log id commits to, or None."""
    return pd.Series([database_digest(log_id) for log_id in log_ids], dtype=object)


def access_digests(addresses: pd.Series) -> pd.Series:
    """Return the digest in each access address, or None."""
    return pd.Series([access_digest(address) for address in addresses], dtype=object)

"""The configuration of each log, row by row: from the operator's file, or from the manifests that its id commits to.

A manifest's write list is not in these rows: any number of logs can name a long one. It is there once, by its digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from strandline.dialects.ipfslog.codec import ANYONE
from strandline.dialects.ipfslog.reduce import (
    Carry,
    LogConfiguration,
    access_digest,
    configuration_of,
    database_digest,
    decode_carry,
    list_digest,
)
from strandline.dialects.ipfslog.types import Manifest
from strandline.kernels.batches import as_batch

CONFIGURATION_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("store", pa.string()),
        pa.field("write", pa.list_(pa.string())),
        pa.field("list_id", pa.binary()),
        pa.field("list_bytes", pa.int64()),
        pa.field("whence", pa.string()),
        pa.field("depends_on", pa.list_(pa.binary())),
        pa.field("reducer_version", pa.string()),
        pa.field("configuration", pa.string()),
        pa.field("is_refused", pa.bool_()),
        pa.field("is_bereft", pa.bool_()),
    ]
)
MANIFEST_COLUMNS: Final = ("record_id", "kind", "type", "access", "list_bytes", "list_digest")
"""What is read of a manifest: texts that are too long to mean anything are cut. `list_bytes` is `texts_bytes` of its
list, and `list_digest` as `reduce.list_digest`; null for other kinds, and the digest where no log has a carry.
"""
TEXT_BYTES: Final = 96
"""The bytes of a row with the text of a list, besides the text: the digest of its list, and what Spark adds."""

LISTED_COLUMNS: Final = ("list_id", "store", "write")
LISTED_SCHEMA: Final = pa.schema(
    [
        pa.field("list_id", pa.binary()),
        pa.field("store", pa.string()),
        pa.field("listed_version", pa.string()),
        pa.field("listed_configuration", pa.string()),
    ]
)


def configurations(
    batches: Iterable[pa.RecordBatch], *, operator_config: Mapping[str, LogConfiguration]
) -> Iterator[pa.RecordBatch]:
    """Yield store and write list of each log.

    Reads: namespace, log_id, manifests (ARRAY<STRUCT<MANIFEST_COLUMNS>>: the stored ones of the chain), carry (for a
            log with pruned entries, else null; empty if it is gone); `operator_config` is the operator's file.
    Gives: CONFIGURATION_SCHEMA: `write`, `reducer_version` and `configuration` are null for the list of a manifest;
            `list_id` is the digest of that manifest, else of the list, and null if everyone may write; `list_bytes` are
            those of rows with the texts of the list; `depends_on` in the order in which the manifests were followed;
            `is_refused`: entries of the log are pruned, and the file differs from the configuration of their snapshot;
            `is_bereft`: entries of the log are pruned, and their carry is gone or cannot be read.
    """
    for batch in batches:
        rows = []
        columns = (batch.column(name).to_pylist() for name in ("namespace", "log_id", "manifests", "carry"))
        for namespace, log_id, manifests, raw in zip(*columns, strict=True):
            found = configuration_of(log_id, operator_config, [_manifest(each) for each in manifests])
            carry = _carry(raw)
            is_refused = carry is not None and found.whence == "config" and not carry.agrees(found)
            listing = _listing(found, manifests)
            found = found if carry is None else carry.configuration_of(found, listing.get("list_digest"))
            is_bereft = raw is not None and carry is None
            rows.append((namespace, found.store, *_listed(found, listing), is_refused, is_bereft))
        if rows:
            yield as_batch(rows, CONFIGURATION_SCHEMA)


def _listing(found: LogConfiguration, manifests: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the manifest whose list a configuration has; empty if its list is of no manifest."""
    if found.whence != "manifest":
        return {}
    return next(each for each in manifests if each["record_id"] == found.depends_on[-1])


def _listed(found: LogConfiguration, listing: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the columns from `write` to `configuration`."""
    if found.whence == "manifest":
        list_id, size = listing["record_id"], listing["list_bytes"]
        return None, list_id, size, found.whence, list(found.depends_on), None, None
    is_open = ANYONE in found.write
    return (
        list(found.write), None if is_open else list_digest(found.write), 0 if is_open else texts_bytes(found.write),
        found.whence, list(found.depends_on), found.reducer_version, found.as_json,
    )  # fmt: skip


def texts_bytes(write: Iterable[str]) -> int:
    """Return the bytes of rows with the texts of a list."""
    return sum(TEXT_BYTES + len(text.encode("utf-8")) for text in write)


def listed_configurations(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the configuration of the logs that have a store and the write list of a manifest.

    Reads: LISTED_COLUMNS; `list_id` is the digest of the manifest.
    Gives: LISTED_SCHEMA.
    """
    for batch in batches:
        rows = []
        # One list at a time: it may have some 300,000 texts.
        for at in range(batch.num_rows):
            list_id, store, write = (batch.column(name)[at].as_py() for name in LISTED_COLUMNS)
            found = LogConfiguration(store, tuple(write), "manifest", (list_id,))
            rows.append((list_id, store, found.reducer_version, found.as_json))
        if rows:
            yield as_batch(rows, LISTED_SCHEMA)


def _carry(raw: bytes | None) -> Carry | None:
    try:
        return decode_carry(raw or b"")
    except ValueError:
        return None


def _manifest(row: Mapping[str, Any]) -> Manifest:
    return Manifest(row["record_id"], b"", "", row["kind"], type=row["type"], access=row["access"])


def database_digests(log_ids: pd.Series) -> pd.Series:
    """Return the digest of the database manifest that each log id commits to, or None."""
    return pd.Series([database_digest(log_id) for log_id in log_ids], dtype=object)


def access_digests(addresses: pd.Series) -> pd.Series:
    """Return the digest in each access address, or None."""
    return pd.Series([access_digest(address) for address in addresses], dtype=object)

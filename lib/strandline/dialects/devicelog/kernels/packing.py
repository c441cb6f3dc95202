"""Stored entries to lines: of export and of `sync --from`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from strandline.core.encoding.strict_json import JsonRefused
from strandline.dialects.devicelog.codec import parse_statement, write_entry, write_message
from strandline.dialects.devicelog.types import Entry
from strandline.kernels import packing

STORED_COLUMNS: Final = (
    "namespace", "record_id", "profile", "log", "seq", "kind", "lamport", "utc", "prev", "deps", "body", "body_size",
    "body_hash", "raw", "sig",
)  # fmt: skip
"""Columns of `device_log_entry` that `stored_entry` reads."""

_GROUP: Final = len("group:")


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield entries as lines, about a MiB per row, in the order given.

    Reads: STORED_COLUMNS.
    Gives: `FILE_SCHEMA` of `kernels.packing`.
    An entry without its body has no line, and a text of another lake may be none of JSON: these become an empty object,
    which is refused where it is read.
    """
    for batch in batches:
        rows = batch.select(STORED_COLUMNS).to_pylist()
        yield from packing.packed(_line(stored_entry(row)) + b"\n" for row in rows)


def _line(entry: Entry) -> bytes:
    if entry.raw is not None:
        try:
            return write_message(entry)
        except JsonRefused:
            return b"{}"
    return b"{}" if entry.body is None else write_entry(entry)


def stored_entry(row: Mapping[str, Any]) -> Entry:
    """Return the entry of a row of `device_log_entry`, given by STORED_COLUMNS; it is not verified again."""
    columns = {name: row[name] for name in STORED_COLUMNS if name not in ("namespace", "deps")}
    group, body = bytes.fromhex(row["namespace"][_GROUP:]), row["body"]
    founds = row["log"] if group == row["record_id"] else None
    states = body is not None and row["kind"] not in ("msg", "ack")
    statement = parse_statement(row["kind"], body, founds=founds) if states else None
    return Entry(**columns, group=group, deps=tuple(row["deps"]), statement=statement)

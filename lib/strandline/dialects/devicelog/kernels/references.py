"""Entries judged against those that they name, by the plain functions of `verify`: first alone, then in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from strandline.core.ancestry import missing_parents
from strandline.core.verdict import Finding, encode_evidence, evidence_of, reasons_of
from strandline.dialects.devicelog.codec import parse_statement
from strandline.dialects.devicelog.types import Header, RemoveStatement
from strandline.dialects.devicelog.verify import (
    References,
    Referent,
    deferred,
    reference_findings,
)
from strandline.kernels.batches import as_batch

NAMED_ENTRY: Final = ("id", "log", "seq", "lamport", "is_accepted")
"""Members of `found`: an entry that another one names, accepted or a candidate."""

CANDIDATE_COLUMNS: Final = (
    "namespace", "record_id", "profile", "log", "seq", "entry_kind", "lamport", "prev", "deps", "statement", "named",
    "found", "is_granted",
)  # fmt: skip
LOCAL_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("profile", pa.string()),
        pa.field("record_id", pa.binary()),
        pa.field("prev", pa.binary()),
        pa.field("deps", pa.list_(pa.binary())),
        pa.field("last", pa.binary()),
        pa.field("lacking", pa.list_(pa.binary())),
        pa.field("absent", pa.int32()),
        pa.field("found", pa.list_(pa.string())),
        pa.field("shown", pa.string()),
    ]
)
"""What an entry and those that it names say alone.

`lacking` are the named ones that are not accepted yet, `absent` the number of those that no candidate is, either;
`found` and `shown` are the reasons against it and their evidence, if all are there.
"""

LOCAL_COLUMNS: Final = tuple(LOCAL_SCHEMA.names)
VERDICT_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("record_id", pa.binary()),
        pa.field("status", pa.string()),
        pa.field("found", pa.list_(pa.string())),
        pa.field("shown", pa.string()),
        pa.field("awaited", pa.list_(pa.string())),
    ]
)
"""A verdict: accepted, rejected or deferred; its reasons, its evidence, what the entry waits for."""


def judged_alone(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what candidates and the entries that they name say alone.

    Reads: CANDIDATE_COLUMNS: `statement` is the body of a `remove-log`, else null; `found` has NAMED_ENTRY of the named
           entries that are there, perhaps twice; `is_granted` tells whether the first dep admits the log.
    Gives: LOCAL_SCHEMA, one row per row.
    """
    for batch in batches:
        rows = [_alone(row) for row in batch.select(CANDIDATE_COLUMNS).to_pylist()]
        if rows:
            yield as_batch(rows, LOCAL_SCHEMA)


def _alone(row: Mapping[str, Any]) -> tuple[Any, ...]:
    removal = parse_statement("remove-log", row["statement"]) if row["statement"] is not None else None
    last = removal.last_id if isinstance(removal, RemoveStatement) else None
    named = frozenset(row["named"])
    references = References(row["prev"] if row["prev"] in named else None, tuple(row["deps"]), last)
    here = row["found"] or ()
    accepted = {each["id"] for each in here if each["is_accepted"]}
    granted = (row["log"],) if row["is_granted"] else ()
    held = {each["id"]: Referent(each["log"], each["seq"], each["lamport"], granted) for each in here}
    findings: tuple[Finding, ...] = ()
    if held.keys() >= named:
        findings = reference_findings(_header(row, removal), references, held)
    return (
        row["namespace"], row["profile"], row["record_id"], references.prev, row["deps"], last,
        sorted(named - accepted), len(named - held.keys()), list(reasons_of(findings)),
        encode_evidence(evidence_of(findings)) if findings else None,
    )  # fmt: skip


def _header(row: Mapping[str, Any], removal: Any) -> Header:
    return Header(
        record_id=row["record_id"], profile=row["profile"], group=b"", log=row["log"], seq=row["seq"],
        kind=row["entry_kind"], lamport=row["lamport"], utc=0, prev=row["prev"], deps=tuple(row["deps"]),
        statement=removal,
    )  # fmt: skip


def judged_in_order(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the verdicts on candidates: what follows a refused or an absent entry waits.

    Reads: LOCAL_COLUMNS, sorted by namespace and profile.
    Gives: VERDICT_SCHEMA, one row per row. Time and memory are linear in the candidates and links of one namespace.
    """
    here: tuple[str, str] | None = None
    rows: list[dict[str, Any]] = []
    for batch in batches:
        for row in batch.select(LOCAL_COLUMNS).to_pylist():
            place = (row["namespace"], row["profile"])
            if place != here:
                if rows:
                    yield _in_order(rows)
                here, rows = place, []
            rows.append(row)
    if rows:
        yield _in_order(rows)


def _in_order(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    failing = {row["record_id"] for row in rows if row["found"]}
    lacking = {row["record_id"]: row["lacking"] for row in rows}
    missing = missing_parents(lacking, failing)
    return as_batch([_verdict(row, missing[row["record_id"]]) for row in rows], VERDICT_SCHEMA)


def _verdict(row: Mapping[str, Any], missing: tuple[bytes, ...]) -> tuple[Any, ...]:
    place = (row["namespace"], row["record_id"])
    if missing:
        verdict = deferred(References(row["prev"], tuple(row["deps"]), row["last"]), missing)
        shown = encode_evidence(verdict.evidence)
        return (*place, "deferred", list(verdict.reasons), shown, list(verdict.waits_for))
    if row["found"]:
        return (*place, "rejected", row["found"], row["shown"], [])
    return (*place, "accepted", [], None, [])

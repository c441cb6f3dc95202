"""Entries judged against those that they name, by the plain functions of `verify`: first locally, then in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa

from strandline.core.ancestry import missing_parents
from strandline.core.verdict import Finding, encode_evidence, evidence_of, reasons_of
from strandline.dialects.devicelog.codec import parse_statement
from strandline.dialects.devicelog.types import ID_BYTES, Header, RemoveStatement
from strandline.dialects.devicelog.verify import (
    NAMED,
    References,
    Referent,
    deferred,
    reference_findings,
)
from strandline.kernels.batches import as_batch, slices

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
"""The local part of a verdict, from an entry and the entries that it names.

`lacking` are the named entries that are not accepted yet, `absent` the number of those that are no candidates either.
`found` and `shown` are the reasons against the entry and their evidence, if it lacks none.
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

_BATCH_ROWS: Final = 128
"""Verdicts of one batch: each can wait for 1,024 entries, by name."""


def judged_locally(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the local verdicts on candidates, from them and the entries that they name.

    Reads: CANDIDATE_COLUMNS: `statement` is the body of a `remove-log`, else null; `found` has NAMED_ENTRY of the
            accepted entries among those named, perhaps twice; `is_granted`: the first dep admits the log.
    Gives: LOCAL_SCHEMA, one row per row.
    """
    for batch in batches:
        for some in slices(batch.select(CANDIDATE_COLUMNS)):
            yield as_batch([_judged_row(row) for row in some.to_pylist()], LOCAL_SCHEMA)


def _judged_row(row: Mapping[str, Any]) -> tuple[Any, ...]:
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


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The fields of LOCAL_COLUMNS that a verdict needs. Ids are joined bytes: a row can lack 1,024 that no other names.

    `deps` are the first NAMED ones. `others` are prev and last, unless they are also deps.
    """

    record_id: bytes
    prev: bytes | None
    deps: bytes
    last: bytes | None
    others: tuple[bytes, ...]
    lacking: bytes
    found: list[str]
    shown: str | None


def judged_in_order(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the verdicts on candidates: entries that follow a refused or a missing entry wait.

    Reads: LOCAL_COLUMNS, sorted by namespace and profile.
    Gives: VERDICT_SCHEMA, one row per row. Time and memory are linear in the candidates and links of one namespace: a
    link to an absent entry takes 32 bytes.
    """
    for (namespace, _), rows in groupby(_local(batches), key=itemgetter("namespace", "profile")):
        verdicts = _in_order(namespace, [_candidate(row) for row in rows])
        while some := list(islice(verdicts, _BATCH_ROWS)):
            yield as_batch(some, VERDICT_SCHEMA)


def _local(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        for some in slices(batch.select(LOCAL_COLUMNS)):
            yield from some.to_pylist()


def _candidate(row: Mapping[str, Any]) -> _Candidate:
    deps, lacking = row["deps"], row["lacking"]
    others = tuple(each for each in (row["prev"], row["last"]) if each is not None and each not in deps)
    return _Candidate(
        row["record_id"], row["prev"], b"".join(deps[:NAMED]), row["last"], others, b"".join(lacking), row["found"],
        row["shown"],
    )  # fmt: skip


def _ids(joined: bytes) -> tuple[bytes, ...]:
    return tuple(joined[start : start + ID_BYTES] for start in range(0, len(joined), ID_BYTES))


def _in_order(namespace: str, rows: list[_Candidate]) -> Iterator[tuple[Any, ...]]:
    here = {row.record_id: row.record_id for row in rows}
    lacking = {row.record_id: [here[each] for each in _ids(row.lacking) if each in here] for row in rows}
    # An entry that lacks an absent one is not admitted, like one that fails.
    stopped = {
        row.record_id
        for row in rows
        if row.found or len(row.lacking) > ID_BYTES * len(lacking[row.record_id])
    }
    waited = missing_parents(lacking, stopped)
    for row in rows:
        awaited = frozenset(waited[row.record_id])
        missing = tuple(each for each in _ids(row.lacking) if each in awaited or each not in here)
        yield (namespace, row.record_id, *_verdict(row, missing))


def _verdict(row: _Candidate, missing: tuple[bytes, ...]) -> tuple[Any, ...]:
    if missing:
        deps = _ids(row.deps)
        # The evidence lists only the first deps; the missing ones among the others give the reason.
        rest = [each for each in missing if each not in row.others] if len(deps) == NAMED else []
        verdict = deferred(References(row.prev, (*deps, *rest), row.last), missing)
        shown = encode_evidence(verdict.evidence)
        return "deferred", list(verdict.reasons), shown, list(verdict.waits_for)
    if row.found:
        return "rejected", row.found, row.shown, []
    return "accepted", [], None, []

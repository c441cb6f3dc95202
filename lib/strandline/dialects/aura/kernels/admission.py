"""Verdicts on facts that depend on other facts: on the history of their namespace, or on states of authorities."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import pyarrow as pa

from strandline.core.verdict import Evidence, encode_evidence
from strandline.dialects.aura.codec import stored_fact
from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.kernels.judgement import STATE_NAME, U64, authority_of
from strandline.dialects.aura.kernels.stored import DERIVED, DERIVED_FIELDS, REMAINS, pruned_of
from strandline.dialects.aura.types import Namespace
from strandline.dialects.aura.verify import (
    AcceptedOp,
    KnownState,
    UnreadOp,
    Verdict,
    admit,
    judge_attested,
    judge_operations,
)
from strandline.kernels.guard import INTERNAL_ERROR, NEXT_RULES, guarded, guarded_rows

VERDICT_SCHEMA: Final = pa.schema(
    [
        pa.field("judge_id", pa.binary()),
        pa.field("namespace", pa.string()),
        pa.field("status", pa.string()),
        pa.field("found", pa.list_(pa.string())),
        pa.field("shown", pa.string()),
        pa.field("awaited", pa.list_(pa.string())),
        pa.field("is_verified", pa.bool_()),
        *DERIVED_FIELDS,
    ]
)
"""A verdict: accepted, rejected or deferred; its reasons, its evidence, what the fact waits for."""

GROUP_COLUMNS: Final = (
    "namespace",
    "judge_id",
    "parent_commitment",
    "block",
    "is_stored",
    *DERIVED,
    *REMAINS,
)
ATTESTED_COLUMNS: Final = ("judge_id", "block", "genesis", "states")
KNOWN_STATE: Final = pa.struct([*STATE_NAME, pa.field("epoch", U64), pa.field("group_key", pa.binary())])
_BATCH_ROWS: Final = 1_000


def admitted(batches: Iterable[pa.RecordBatch], *, pins: Mapping[str, bytes]) -> Iterator[pa.RecordBatch]:
    """Yield the verdicts on operations and on geneses of contexts, which need only facts of their own namespace.

    Reads: GROUP_COLUMNS, the rows of a namespace together: candidates and, with `is_stored`, accepted facts of these
            kinds and the remains of pruned ones. DERIVED is set only for stored operations of authorities with remains.
    Gives: VERDICT_SCHEMA, one row per candidate.
    """
    rows = (row for namespace, group in by_namespace(batches) for row in _of_group(namespace, group, pins))
    return in_batches(rows, VERDICT_SCHEMA, _BATCH_ROWS)


def _of_group(
    namespace: str, group: Iterator[dict[str, Any]], pins: Mapping[str, bytes]
) -> Iterator[dict[str, Any]]:
    """Yield the verdicts on the candidates of a group; after an internal fault, candidates without a verdict wait."""
    waiting: set[bytes] = set()

    def judged() -> Iterator[dict[str, Any]]:
        judge = _of_authority if namespace.startswith("authority:") else _of_context
        for row in judge(namespace, group, waiting, pins.get(namespace)):
            waiting.discard(row["judge_id"])
            yield {"namespace": namespace, **row}

    def at_fault(evidence: Evidence) -> Iterator[dict[str, Any]]:
        waiting.update(row["judge_id"] for row in group if row["is_stored"] is False)
        return ({"namespace": namespace, **_fault(judge_id, evidence)} for judge_id in sorted(waiting))

    return guarded_rows(judged(), at_fault)


def _of_authority(
    namespace: str, group: Iterator[dict[str, Any]], waiting: set[bytes], pin: bytes | None
) -> Iterator[dict[str, Any]]:
    """Yield the verdicts on operations. An operation stays as bytes until its parent state is known."""
    stored: list[UnreadOp] = []
    candidates: list[UnreadOp] = []
    kept: list[dict[str, Any]] = []
    for row in group:
        if row["height"] is not None or row["judge_id"] is None:
            kept.append(row | {"fact_cbor": row["block"]})
        if row["judge_id"] is None:
            continue
        op = UnreadOp(row["judge_id"], row["parent_commitment"], row["block"])
        if row["is_stored"]:
            stored.append(op)
        else:
            candidates.append(op)
            waiting.add(op.fact_id)
    of_authority = Namespace("authority", authority_of(namespace))
    for judged in judge_operations(of_authority, candidates, stored, pin, pruned_of(kept)):
        if judged.verdict is not None:
            yield _row(judged.fact_id, judged.verdict, is_verified=True) | derived(judged.op)


def _of_context(
    namespace: str, group: Iterator[dict[str, Any]], waiting: set[bytes], pin: bytes | None
) -> Iterator[dict[str, Any]]:
    """Yield the verdicts on geneses of a context."""
    rows = list(group)
    waiting.update(row["judge_id"] for row in rows if not row["is_stored"])
    stored = [stored_fact(row["block"]) for row in rows if row["is_stored"]]
    candidates = {row["judge_id"]: stored_fact(row["block"]) for row in rows if not row["is_stored"]}
    found = admit(candidates.values(), stored, {} if pin is None else {namespace: pin})
    for judge_id, fact in candidates.items():
        yield _row(judge_id, found.verdicts[fact.fact_id], is_verified=False)


def derived(op: AcceptedOp | None) -> dict[str, Any]:
    """Return DERIVED_FIELDS of an accepted operation."""
    if op is None:
        return {}
    numbers = {"height": Decimal(op.height), "new_epoch": Decimal(op.new_epoch)}
    return {field.name: getattr(op, field.name) for field in DERIVED_FIELDS} | numbers


def attested(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the verdicts on all other facts, which name states of authorities.

    Reads: ATTESTED_COLUMNS: genesis is the `content_json` of the accepted one of the context, or null: its bytes may be
            1 MiB, in each row; states are those that the fact names and that are known (KNOWN_STATE), or null.
    Gives: VERDICT_SCHEMA, one row per row.
    """
    rows = (_of_attested(row) for batch in batches for row in batch.to_pylist())
    return in_batches(rows, VERDICT_SCHEMA, _BATCH_ROWS)


def _of_attested(row: Mapping[str, Any]) -> dict[str, Any]:
    def judged() -> dict[str, Any]:
        states = {
            (authority_of(each["authority"]), each["commitment"]): KnownState(
                int(each["epoch"]), each["group_key"]
            )
            for each in row["states"] or ()
        }
        members = None if row["genesis"] is None else _members(row["genesis"])
        return _row(
            row["judge_id"],
            judge_attested(stored_fact(row["block"]), states, members),
            is_verified=bool(states),
        )

    return guarded(judged, lambda evidence: _fault(row["judge_id"], evidence))


@lru_cache(maxsize=256)
def _members(content_json: str) -> frozenset[bytes]:
    members = json.loads(content_json)["Relational"]["ContextGenesis"]["members"]
    return frozenset(UUID(each).bytes for each in members)


def _row(judge_id: bytes, verdict: Verdict, *, is_verified: bool) -> dict[str, Any]:
    return {
        "judge_id": judge_id,
        "status": verdict.status,
        "found": list(verdict.reasons),
        "shown": encode_evidence(verdict.evidence) if verdict.findings else None,
        "awaited": list(verdict.waits_for),
        "is_verified": is_verified and verdict.status != "deferred",
    }


def _fault(judge_id: bytes, evidence: Evidence) -> dict[str, Any]:
    return {
        "judge_id": judge_id,
        "status": "deferred",
        "found": [INTERNAL_ERROR],
        "shown": encode_evidence(evidence),
        "awaited": [NEXT_RULES],
        "is_verified": False,
    }

"""Blocks to what they are: entries with facts, identities, manifests, blocks of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from strandline.contracts.reasons import rules_version
from strandline.core.verdict import encode_evidence, evidence_of, internal_error
from strandline.dialects.ipfslog.kernels.entries import ENTRY_FACTS, facts_of
from strandline.dialects.ipfslog.types import (
    BlockDocument,
    IdentityRecord,
    Manifest,
    Profile,
    record_id,
)
from strandline.dialects.ipfslog.verify import (
    Checked,
    Element,
    Foreign,
    Refused,
    identity_missing,
    read_element,
)

NEXT_RULES: Final = f"rules:{rules_version() + 1}"
"""What a record waits for that met a fault of ours: rules in which it is mended."""

_OP: Final = pa.struct(
    [
        pa.field("op", pa.string()),
        pa.field("op_key", pa.string()),
        pa.field("value_json", pa.string()),
        pa.field("item", pa.int32()),
        pa.field("target", pa.string()),
    ]
)
_TYPES: Final[dict[str, pa.DataType]] = {
    "record_id": pa.binary(), "reasons": pa.list_(pa.string()), "flags": pa.list_(pa.string()),
    "identity_digest": pa.binary(), "identity_block": pa.binary(), "clock_time": pa.int64(),
    "next": pa.list_(pa.binary()), "refs": pa.list_(pa.binary()), "ops": pa.list_(_OP),
}  # fmt: skip
_MANIFEST: Final[dict[str, pa.DataType]] = {
    "manifest_kind": pa.string(), "name": pa.string(), "type": pa.string(), "access": pa.string(),
    "write": pa.list_(pa.string()), "heads": pa.list_(pa.binary()),
}  # fmt: skip

JUDGED: Final = pa.schema(
    [
        pa.field("judge_id", pa.binary(), nullable=False),
        pa.field("block", pa.binary(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("is_signed", pa.bool_()),
        *(pa.field(name, _TYPES.get(name, pa.string())) for name in ENTRY_FACTS),
        *(pa.field(name, kind) for name, kind in _MANIFEST.items()),
    ]
)
"""What a block is.

- `kind`: `entry`, `identity`, `manifest`; `foreign`, a block of another application; `stray`, one that is nobody's in a
  CAR, and elsewhere no entry. `is_signed`: its signature was looked at.
- Of an entry ENTRY_FACTS; of core2 without reasons `evidence` is what goes with it while its identity is not held.
- Of a manifest cid, log_id and its members, `heads` the digests that it claims.
- Of an identity `identity_block` is the block, and `identity_digest` its digest.
"""

_NOTHING: Final[dict[str, Any]] = dict.fromkeys(JUDGED.names)


def judged(batches: Iterable[pa.RecordBatch], profile: Profile) -> Iterator[pa.RecordBatch]:
    """Yield what blocks are, with all that decides the verdict on them but other identities; nothing raises.

    Reads: judge_id, block, claimed, snapshot_id.  Gives: JUDGED, a row each.
    """
    for batch in batches:
        names = ("judge_id", "block", "claimed", "snapshot_id")
        rows = zip(*(batch.column(name).to_pylist() for name in names), strict=True)
        found = [
            _judged(judge_id, block, claimed, snapshot_id, profile)
            for judge_id, block, claimed, snapshot_id in rows
        ]
        yield pa.RecordBatch.from_pylist(found, schema=JUDGED)


def _judged(
    judge_id: bytes, block: bytes, claimed: str | None, snapshot_id: str | None, profile: Profile
) -> dict[str, Any]:
    told = {**_NOTHING, "judge_id": judge_id, "block": block, "record_id": record_id(block)}
    try:
        return {**told, **_element(block, claimed, snapshot_id, profile)}
    except Exception as error:  # noqa: BLE001  our own fault must not stop the job: the block waits for mended rules
        evidence = encode_evidence(internal_error(error))
        return {**told, "kind": "entry", "reasons": ["INTERNAL_ERROR"], "flags": [], "evidence": evidence}


def _element(block: bytes, claimed: str | None, snapshot_id: str | None, profile: Profile) -> dict[str, Any]:
    element = read_element(BlockDocument(block, claimed, 0, snapshot_id), profile)
    if isinstance(element, Checked):
        facts = dict(zip(ENTRY_FACTS, facts_of(element), strict=True))
        if facts["variant"] == "core2":
            facts["evidence"] = encode_evidence(evidence_of([identity_missing(facts["identity_digest"])]))
        facts["is_signed"] = element.shaped is not None
        return {**facts, "kind": "stray" if _is_stray(element, block, profile) else "entry"}
    return _other(element)


def _is_stray(checked: Checked, block: bytes, profile: Profile) -> bool:
    if not any(finding.reason == "NOT_AN_ENTRY" for finding in checked.findings):
        return False
    in_car = BlockDocument(block, b"\x01\x71\x12\x20" + record_id(block), 0)
    return isinstance(read_element(in_car, profile), Foreign)


def _other(element: Element) -> dict[str, Any]:
    accepted: dict[str, Any] = {"reasons": [], "flags": []}
    if isinstance(element, Refused):
        evidence = encode_evidence(element.evidence)
        return {**accepted, "kind": "entry", "reasons": list(element.reasons), "evidence": evidence}
    if isinstance(element, IdentityRecord):
        return {
            **accepted, "kind": "identity", "identity_digest": element.digest, "identity_block": element.block
        }  # fmt: skip
    if isinstance(element, Manifest):
        return {
            **accepted, "kind": "manifest", "manifest_kind": element.kind, "cid": element.cid,
            "log_id": element.log_id, "name": element.name, "type": element.type, "access": element.access,
            "write": None if element.write is None else list(element.write), "heads": list(element.heads),
        }  # fmt: skip
    return {**accepted, "kind": "foreign"}

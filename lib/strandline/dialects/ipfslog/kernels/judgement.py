"""A block to its element: an entry with facts, an identity, a manifest or a foreign block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from strandline.core.verdict import encode_evidence, evidence_of
from strandline.dialects.ipfslog.info import PROFILE
from strandline.dialects.ipfslog.kernels.entries import ENTRY_FACTS, facts_of
from strandline.dialects.ipfslog.types import (
    PROFILES,
    BlockDocument,
    IdentityRecord,
    Manifest,
    Profile,
    record_id,
)
from strandline.dialects.ipfslog.verify import (
    BuiltEntry,
    Checked,
    Element,
    Foreign,
    Refused,
    check_built,
    identity_missing,
    read_element,
)
from strandline.kernels.blocks import JUDGED_FIELDS
from strandline.kernels.reading import ReadOptions

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

_SHARED: Final = {field.name for field in JUDGED_FIELDS}
JUDGED: Final = pa.schema(
    [
        *JUDGED_FIELDS,
        *(pa.field(name, _TYPES.get(name, pa.string())) for name in ENTRY_FACTS if name not in _SHARED),
        *(pa.field(name, kind) for name, kind in _MANIFEST.items()),
    ]
)
"""The element in a block.

- `kind`: `record` (an entry), `identity` or `manifest`; `foreign` and `stray` as in JUDGED_FIELDS.
- For an entry: ENTRY_FACTS. For core2 without reasons, `evidence` is that of IDENTITY_MISSING.
- For a manifest: cid, log_id and its members; `heads` are the digests that it claims.
- For an identity: `identity_block` is the block and `identity_digest` its digest.
"""


def judge(block: bytes, claims: Mapping[str, Any], options: ReadOptions) -> Mapping[str, Any]:
    """Return the element in a block, judged except for what other identities decide: columns of JUDGED.

    If the same task built the block from an entry, `claims` has that, and the block is not parsed.
    """
    chosen = options.lake_options[PROFILE]
    profile = next(profile for profile in PROFILES if profile == chosen)
    entry: BuiltEntry | None = claims.get("entry")
    if entry is not None:
        return _element(check_built(entry, claims["claimed"], profile), block, profile)
    document = BlockDocument(block, claims["claimed"], 0, claims["snapshot_id"])
    return _element(read_element(document, profile), block, profile)


def _element(element: Element, block: bytes, profile: Profile) -> dict[str, Any]:
    if isinstance(element, Checked):
        facts = dict(zip(ENTRY_FACTS, facts_of(element), strict=True))
        if facts["variant"] == "core2":
            facts["evidence"] = encode_evidence(evidence_of([identity_missing(facts["identity_digest"])]))
        facts["is_signed"] = element.shaped is not None
        return {**facts, "kind": "stray" if _is_stray(element, block, profile) else "record"}
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
        return {**accepted, "reasons": list(element.reasons), "evidence": evidence}
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

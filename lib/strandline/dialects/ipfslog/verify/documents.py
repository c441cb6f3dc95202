"""The element in a document: an entry, an identity, a manifest, a foreign block, or a refused document."""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from strandline.core.limits import MAX_VALUES
from strandline.core.verdict import Evidence, Finding, evidence_of, reasons_of
from strandline.dialects.ipfslog.codec import (
    dag_cbor,
    identity_map,
    identity_of,
    is_dag_pb,
    is_identity_shape,
    link,
    manifest_kind,
    manifest_of,
    parse_cid,
    parse_cid_bytes,
    without_hash,
)
from strandline.dialects.ipfslog.types import (
    BlockDocument,
    Cid,
    IdentityRecord,
    JsonDocument,
    Manifest,
    Profile,
    Unreadable,
    record_id,
)
from strandline.dialects.ipfslog.verify.built_entries import BuiltEntry, built
from strandline.dialects.ipfslog.verify.checks import (
    Checked,
    check_item,
    check_json,
    claimed_block,
    is_too_large,
    namespace_of_value,
)
from strandline.dialects.ipfslog.verify.decoding import Item, decoded, is_out_of_range, out_of_range
from strandline.dialects.ipfslog.verify.shape import shape

_ENTRY_MEMBERS: Final = frozenset({"v", "payload", "clock"})


@dataclass(frozen=True, slots=True)
class Foreign:
    """A block that is not a record of a log: a file, or a value of another application. It is only counted."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A document rejected before it was recognised as an entry; `raw` is its block, or its bytes in the file."""

    reasons: tuple[str, ...]
    raw: bytes
    record_id: bytes | None
    evidence: Evidence
    namespace: str | None = None


Element: TypeAlias = Checked | IdentityRecord | Manifest | Foreign | Refused


def read_element(document: BlockDocument | JsonDocument | Unreadable, profile: Profile) -> Element:
    """Return the element in a document: entries after checks 1 to 16, identities and manifests after 1 to 3.

    - A dag-cbor block, or the JSON in a dag-pb block, with exactly the members of an identity or a manifest is one;
    - `Foreign` are: blocks of a CAR with an unsupported content address; dag-pb blocks without such JSON and without
      `v`, `payload` and `clock`; dag-cbor blocks of a CAR that are neither a byte string nor a map with one of these;
    - everything else is judged as an entry.
    """
    if isinstance(document, Unreadable):
        return Refused(document.reasons, document.raw, None, document.evidence)
    if isinstance(document, JsonDocument):
        return _json(document, profile)
    return _block(document, profile)


def _block(document: BlockDocument, profile: Profile) -> Element:
    block, claimed = document.block, document.claimed
    is_in_car = isinstance(claimed, bytes)
    if isinstance(claimed, bytes) and not isinstance(parse_cid_bytes(claimed), Cid):
        return Foreign()
    checked = claimed_block(block, claimed, profile)
    if any(finding.reason == "BLOCK_TOO_LARGE" for finding in checked.findings):
        return checked
    item = decoded(block)
    if isinstance(item, Finding):
        if is_dag_pb(block):
            return Foreign()
        checked.findings.append(item)
        return checked
    if not _has_entry_members(item.value):
        record = _record(checked, item)
        if record is not None:
            return record
        is_other_value = is_in_car and not isinstance(item.value, bytes)
        if item.form == "dag-pb" or is_other_value:
            return Foreign()
    check_item(checked, item, document.snapshot_id)
    return checked


def _has_entry_members(value: Any) -> bool:
    return isinstance(value, dict) and not _ENTRY_MEMBERS.isdisjoint(value)


def _record(checked: Checked, item: Item) -> IdentityRecord | Manifest | Refused | None:
    block = checked.block or b""
    is_identity = is_identity_shape(item.value)
    kind = None if is_identity else manifest_kind(item.value)
    if not is_identity and kind is None:
        return None
    findings = list(checked.findings)
    if item.has_unsafe_integer and is_out_of_range(item.value):
        findings.append(out_of_range())
    if findings:
        return _refused(findings, block, checked.record_id)
    if kind is None:
        return identity_of(item.value, block)
    return manifest_of(kind, item.value, block)


def _json(document: JsonDocument, profile: Profile) -> Element:
    value = document.value
    if "payload" in value and "v" in value:
        return check_json(value, profile, snapshot_id=document.snapshot_id)
    stored = _stored(document)
    if isinstance(stored, Refused):
        return stored
    return _block(BlockDocument(dag_cbor(stored), value.get("hash"), document.offset), profile)


def as_block(document: JsonDocument) -> tuple[BlockDocument, BuiltEntry | None] | Refused:
    """Return the block of a JSON document, with the claimed content address, and its entry; or why there is none.

    The verdict on the block is that on the document, and that of `check_built` on the entry. There is no entry of
    other documents, and of a block so long that it may have more values than its reader builds.
    """
    value = document.value
    entry = namespace = None
    if "payload" in value and "v" in value:
        shaped = shape(value, "json", document.snapshot_id)
        if isinstance(shaped, list):
            return _refused(shaped, document.raw, None, namespace_of_value(value))
        entry = built(value, shaped)
        stored = entry.block
        namespace = namespace_of_value(value)
    else:
        found = _stored(document)
        if isinstance(found, Refused):
            return found
        stored = dag_cbor(found)
    too_large = is_too_large(stored)
    if too_large is not None:
        return _refused([too_large], stored, record_id(stored), namespace)
    block = BlockDocument(stored, value.get("hash"), document.offset, document.snapshot_id, document.is_head)
    return block, None if len(stored) > MAX_VALUES else entry


def _stored(document: JsonDocument) -> dict[str, Any] | Refused:
    """Return a JSON identity or manifest as stored in a block, or why it is none."""
    value = without_hash(document.value)
    kind = manifest_kind(value)
    is_identity = is_identity_shape(value)
    if not isinstance(document.value.get("hash"), str | None) or not (is_identity or kind):
        return _refused([Finding("NOT_AN_ENTRY", {"cause": "no shape fits"})], document.raw, None)
    if is_identity:
        return identity_map(value)
    if kind != "log":
        return dict(value)
    heads = [parse_cid(head) for head in value["heads"]]
    wrong = [
        Finding(head, {"field": f"heads[{position}]"})
        for position, head in enumerate(heads)
        if isinstance(head, str)
    ]
    if wrong:
        return _refused(wrong, document.raw, None)
    return {"id": value["id"], "heads": [link(head.raw) for head in heads if isinstance(head, Cid)]}


def _refused(
    findings: list[Finding], raw: bytes, digest: bytes | None, namespace: str | None = None
) -> Refused:
    return Refused(reasons_of(findings), raw, digest, evidence_of(findings), namespace)


def claimed_digest(document: BlockDocument | JsonDocument) -> bytes | None:
    """Return the digest in the claimed address of a document, None without an address that can be read."""
    claimed = document.claimed if isinstance(document, BlockDocument) else document.value.get("hash")
    if not isinstance(claimed, str | bytes):
        return None
    cid = parse_cid(claimed) if isinstance(claimed, str) else parse_cid_bytes(claimed)
    return cid.digest if isinstance(cid, Cid) else None

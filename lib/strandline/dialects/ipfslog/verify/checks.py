"""Checks 1 to 16 of an entry: those that need only its block."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from strandline.core.limits import MAX_VALUES
from strandline.core.signatures import PARTNER_SAMPLE
from strandline.core.verdict import Evidence, Finding, shown
from strandline.dialects.ipfslog.codec import (
    MAX_CID_CHARS,
    address_text,
    canonical_cid,
    embedded_block,
    identity_of,
    is_dag_pb,
    json_fitness,
    parse_cid,
    parse_cid_bytes,
)
from strandline.dialects.ipfslog.types import (
    MAX_BLOCK_BYTES,
    MAX_ID_BYTES,
    MAX_TIME,
    SATURATED_TIME,
    IdentityRecord,
    Profile,
    log_namespace,
    record_id,
)
from strandline.dialects.ipfslog.verify.built_entries import BuiltEntry, built
from strandline.dialects.ipfslog.verify.decoding import Item, decoded, is_out_of_range, out_of_range
from strandline.dialects.ipfslog.verify.shape import Shaped, shape, variant_of
from strandline.dialects.ipfslog.verify.signature import signature_findings

_MIN_NEGATIVE_TIME: Final = -SATURATED_TIME


@dataclass(slots=True)
class Checked:
    """An entry after checks 1 to 16, before 17 to 19; `shaped` is None if a check ended the judgement.

    `identity_digest` names the identity that decides the rest; `identity` is that identity if the entry embeds it.
    """

    block: bytes | None
    record_id: bytes | None
    profile: Profile
    namespace: str | None = None
    shaped: Shaped | None = None
    findings: list[Finding] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    identity_digest: bytes | None = None
    _identity: IdentityRecord | None = None

    @property
    def identity(self) -> IdentityRecord | None:
        """The identity that a v1 or v2 entry embeds."""
        if self._identity is None and self.shaped is not None and self.block is not None:
            value = self.shaped.fields.get("identity")
            if isinstance(value, dict):
                self._identity = identity_of(value, embedded_block(self.block))
        return self._identity


def check_block(
    block: bytes, claimed: str | bytes | None, profile: Profile, *, snapshot_id: str | None = None
) -> Checked:
    """Return a block after checks 1 to 16."""
    checked = claimed_block(block, claimed, profile)
    if not checked.findings or checked.findings[0].reason != "BLOCK_TOO_LARGE":
        item = decoded(block)
        if isinstance(item, Finding):
            checked.findings.append(item)
        else:
            check_item(checked, item, snapshot_id)
    return checked


def claimed_block(block: bytes, claimed: str | bytes | None, profile: Profile) -> Checked:
    """Return a block after checks 1 and 2: its size, and its delivered content address."""
    return _with_claim(Checked(block, record_id(block), profile), claimed)


def _with_claim(checked: Checked, claimed: str | bytes | None) -> Checked:
    too_large = is_too_large(checked.block or b"")
    if too_large is not None:
        checked.findings.append(too_large)
    elif claimed is not None:
        _check_claim(checked, claimed)
    return checked


def check_item(checked: Checked, item: Item, snapshot_id: str | None) -> None:
    """Run checks 3 (range) to 16 of a decoded block."""
    value = item.value
    if item.has_unsafe_integer and is_out_of_range(value):
        checked.findings.append(out_of_range())
        return
    if item.has_short_floats:
        is_entry = type(value) is dict and "v" in value
        variant = variant_of(value, item.form) if is_entry else None
        _note_short_floats(checked, is_flag=checked.profile == "compat" and variant in ("v1", "v2"))
    shaped = shape(value, item.form, snapshot_id)
    if isinstance(shaped, list):
        checked.namespace = namespace_of_value(value)
        checked.findings += shaped
    else:
        _check_rest(checked, shaped)


def check_json(value: Mapping[str, Any], profile: Profile, *, snapshot_id: str | None = None) -> Checked:
    """Return a JSON entry after checks 1 to 16; it has no block if one of 5 to 9 failed."""
    shaped = shape(value, "json", snapshot_id)
    if isinstance(shaped, list):
        return Checked(None, None, profile, namespace=namespace_of_value(value), findings=shaped)
    entry = built(value, shaped)
    if MAX_VALUES < len(entry.block) <= MAX_BLOCK_BYTES:
        # It may have more values than its reader builds: a link is one in JSON, and two in CBOR.
        return check_block(entry.block, value.get("hash"), profile, snapshot_id=snapshot_id)
    return check_built(entry, value.get("hash"), profile)


def check_built(entry: BuiltEntry, claimed: str | None, profile: Profile) -> Checked:
    """Return a JSON entry after checks 1, 2 and 10 to 16; `claimed` is its delivered content address, or None."""
    checked = _with_claim(Checked(entry.block, entry.record_id, profile), claimed)
    checked.namespace = log_namespace(entry.shaped.fields["id"])
    if is_too_large(entry.block) is None:
        if entry.floats == "short":
            _note_short_floats(checked, is_flag=profile == "compat")
        _check_rest(checked, entry.shaped)
    return checked


def is_too_large(block: bytes) -> Finding | None:
    """Return the finding of a block over the limit (check 1), or None."""
    if len(block) <= MAX_BLOCK_BYTES:
        return None
    return Finding("BLOCK_TOO_LARGE", {"expected": MAX_BLOCK_BYTES, "actual": len(block)})


def _check_claim(checked: Checked, claimed: str | bytes) -> None:
    cid = parse_cid(claimed) if isinstance(claimed, str) else parse_cid_bytes(claimed)
    # A text, so that a replay can repeat the claim: whole if `parse_cid` reads it, a longer one is malformed also cut.
    text = claimed if isinstance(claimed, str) else address_text(claimed[:64])
    actual = text if len(text) <= MAX_CID_CHARS else shown(text)
    if isinstance(cid, str):
        checked.findings.append(Finding(cid, {"field": "cid", "actual": actual}))
    elif cid.digest != checked.record_id:
        expected = canonical_cid(
            checked.record_id or b"", "v0" if is_dag_pb(checked.block or b"") else "core2"
        )
        checked.findings.append(Finding("HASH_MISMATCH", {"expected": expected, "claimed": actual}))


def _note_short_floats(checked: Checked, *, is_flag: bool) -> None:
    if is_flag:
        checked.flags.append("FLOAT_SHORT")
    else:
        checked.findings.append(Finding("FLOAT_WIDTH", {"expected": "64 bits", "actual": "shortest"}))


def namespace_of_value(value: Any) -> str | None:
    """Return the namespace of a value that passed check 5 and has a valid log id, else None."""
    if type(value) is not dict or not {"v", "payload", "clock"} <= value.keys():
        return None
    log_id = value.get("id")
    if type(log_id) is not str or not 1 <= len(log_id.encode("utf-8")) <= MAX_ID_BYTES:
        return None
    return log_namespace(log_id)


def _check_rest(checked: Checked, shaped: Shaped) -> None:
    """Run checks 10 to 16, and set the identity that decides the rest."""
    fields, variant = shaped.fields, shaped.variant
    checked.shaped = shaped
    checked.namespace = log_namespace(fields["id"])
    is_strict = checked.profile == "strict"
    findings, flags = checked.findings, checked.flags
    fitness = json_fitness(fields["payload"]) if variant in ("v1", "v2") else "json"
    if fitness == "beyond":
        _report(checked, "PAYLOAD_NOT_JSON", {"field": "payload"}, is_finding=is_strict)
    _check_clock(checked, fields)
    findings += signature_findings(
        shaped,
        checked.block or b"",
        checked.profile,
        flags,
        plain=fitness == "plain",
        is_sampled=int.from_bytes((checked.record_id or b"")[:2], "big") < PARTNER_SAMPLE,
    )
    if variant == "v0":
        _report(checked, "SIGNATURE_WEAK", {"field": "sig"}, is_finding=is_strict)
    if _has_duplicates(shaped.next) or _has_duplicates(shaped.refs):
        flags.append("DUPLICATE_LINK")
    if variant == "core2":
        checked.identity_digest = shaped.identity_digest
    elif variant != "v0":
        checked.identity_digest = record_id(embedded_block(checked.block or b""))


def _check_clock(checked: Checked, fields: Mapping[str, Any]) -> None:
    clock = fields["clock"]
    time = clock["time"]
    is_strict = checked.profile == "strict"
    least = 0 if is_strict else _MIN_NEGATIVE_TIME
    if time != int(time) or not least <= time <= MAX_TIME:
        evidence: Evidence = {
            "field": "clock.time",
            "expected": f"integer of {least}..2^53",
            "actual": repr(time),
        }
        checked.findings.append(Finding("CLOCK_OUT_OF_RANGE", evidence))
    elif time < 0:
        checked.flags.append("CLOCK_NEGATIVE")
    elif time >= SATURATED_TIME:
        checked.flags.append("CLOCK_SATURATED")
    if clock["id"] != fields["key"]:
        evidence = {"field": "clock.id", "expected": shown(fields["key"]), "actual": shown(clock["id"])}
        _report(checked, "CLOCK_ID_MISMATCH", evidence, is_finding=is_strict)


def _report(checked: Checked, reason: str, evidence: Evidence, *, is_finding: bool) -> None:
    if is_finding:
        checked.findings.append(Finding(reason, evidence))
    else:
        checked.flags.append(reason)


def _has_duplicates(cids: tuple[Any, ...]) -> bool:
    return len(cids) > 1 and len({cid.digest for cid in cids}) < len(cids)

"""The verdict on one entry: checks of its block, then checks of its identity."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from strandline.core.judgement import Status
from strandline.core.verdict import Evidence, Finding, evidence_of, reasons_of, shown
from strandline.dialects.ipfslog.codec import canonical_cid
from strandline.dialects.ipfslog.types import Entry, IdentityRecord, NamedIdentity, Profile, Variant
from strandline.dialects.ipfslog.verify.checks import Checked, check_block, check_json
from strandline.dialects.ipfslog.verify.identities import KnownIdentity, fits_variant, verify_identity
from strandline.dialects.ipfslog.verify.shape import Shaped
from strandline.dialects.ipfslog.verify.signature import is_same_point

NO_IDENTITIES: Final[Mapping[bytes, KnownIdentity]] = {}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one entry.

    `reasons` and `flags` are sorted; `waits_for` is `identity:<hex digest>` if deferred. `entry` is set if accepted.
    `block` is what was judged, None for a JSON entry from which no block was built; `record_id` is its digest.
    `namespace` is None while the log is unknown.
    """

    status: Status
    reasons: tuple[str, ...]
    flags: tuple[str, ...]
    waits_for: tuple[str, ...]
    entry: Entry | None
    block: bytes | None
    record_id: bytes | None
    namespace: str | None
    evidence: Evidence


def verify_block(
    block: bytes,
    claimed: str | bytes | None = None,
    profile: Profile = "strict",
    identities: Mapping[bytes, KnownIdentity] = NO_IDENTITIES,
    *,
    snapshot_id: str | None = None,
) -> Verdict:
    """Return the verdict on one block of an entry. Never raises, whatever the bytes.

    `claimed` is the delivered content address, as text or bytes; `snapshot_id` is the id of the log snapshot around
    it; `identities` are known identities by digest. An accepted entry passes these checks:
    - 1, at most 2 MiB: `BLOCK_TOO_LARGE`;
    - 2, the claimed address can be read and has the digest of the block: `CID_MALFORMED`, `CID_UNSUPPORTED`,
      `HASH_MISMATCH`;
    - 3, canonical dag-cbor, integers of at most 2^53-1 (payloads of core2: any of 64 bits): `CBOR_INVALID`,
      `CBOR_NOT_CANONICAL`, `NUMBER_OUT_OF_RANGE`; v0: JSON in dag-pb;
    - 4, floats of 64 bits: `FLOAT_WIDTH`; v1, v2 in compat: flag `FLOAT_SHORT`;
    - 5 to 9, as `shape`;
    - 10, the payload of v1 or v2 has no byte strings and links, which its signature does not distinguish:
      `PAYLOAD_NOT_JSON`; in compat a flag;
    - 11, `time` is an integer of 0 to 2^53 (compat: from -(2^53-1), flag `CLOCK_NEGATIVE`): `CLOCK_OUT_OF_RANGE`;
    - 12, `clock.id` is `key`: `CLOCK_ID_MISMATCH`; in compat a flag;
    - 13 to 15, as `signature_findings`;
    - 16, not v0: `SIGNATURE_WEAK`; in compat a flag;
    - 17, the type of the identity fits the variant: `IDENTITY_TYPE_UNSUPPORTED`;
    - 18, if so, both signatures of the identity are valid: `IDENTITY_INVALID`;
    - 19, `key` is its signing key: `KEY_IDENTITY_MISMATCH`; v1, v2 in compat, the same point: flag `KEY_FORM`;
    - 20, core2: the identity is known: else deferred, `IDENTITY_MISSING`. core2 runs 17 to 20 only after passing 1 to
      16, so that reasons do not depend on when the identity arrived.

    A failure of 1, 3 or 5 to 9 ends the judgement; of the others, all failures are reported. Flags of both profiles:
    `CLOCK_SATURATED`, `DUPLICATE_LINK`.
    """
    return conclude(check_block(block, claimed, profile, snapshot_id=snapshot_id), identities)


def verify_json(
    value: Mapping[str, Any],
    profile: Profile = "strict",
    identities: Mapping[bytes, KnownIdentity] = NO_IDENTITIES,
) -> Verdict:
    """Return the verdict on a JSON entry: its block is built, then judged as by `verify_block`.

    Checks 5 to 9 come first; if one fails, no block is built. A claimed `hash` must be that of the block with 64-bit
    floats or, in v1 and v2, with shortest floats.
    """
    return conclude(check_json(value, profile), identities)


def conclude(checked: Checked, identities: Mapping[bytes, KnownIdentity]) -> Verdict:
    """Return the verdict on an entry after checks 1 to 16, from the known identities.

    An embedded identity that is not known is verified here.
    """
    shaped, digest = checked.shaped, checked.identity_digest
    if shaped is None or digest is None:
        return _verdict(checked, shaped, None, checked.findings, checked.flags)
    if shaped.variant == "core2" and checked.findings:
        return _verdict(checked, shaped, None, checked.findings, checked.flags)
    known = identities.get(digest)
    if known is None and checked.identity is not None:
        known = verify_identity(checked.identity)
    if known is None:
        verdict = _verdict(checked, shaped, None, [identity_missing(digest)], checked.flags)
        return replace(verdict, status="deferred", waits_for=(f"identity:{digest.hex()}",))
    findings, flags = list(checked.findings), list(checked.flags)
    _check_identity(shaped, known.identity, known.is_valid, checked.profile, findings, flags)
    return _verdict(checked, shaped, known.identity, findings, flags)


def identity_missing(digest: bytes) -> Finding:
    """Return the finding of a core2 entry whose identity is not known; its `identity` is canonical (check 9)."""
    return Finding("IDENTITY_MISSING", {"field": "identity", "actual": canonical_cid(digest)})


def without_identity_signatures(checked: Checked) -> Checked:
    """Return a v1 or v2 entry after checks 17 and 19 of its embedded identity; other entries unchanged.

    Check 18 is left: it runs once per distinct identity, for those with a fitting type.
    """
    if checked.shaped is None or checked.identity is None:
        return checked
    findings, flags = list(checked.findings), list(checked.flags)
    _check_identity(checked.shaped, checked.identity, None, checked.profile, findings, flags)
    return replace(checked, findings=findings, flags=flags)


def _check_identity(
    shaped: Shaped,
    identity: IdentityRecord,
    is_valid: bool | None,
    profile: Profile,
    findings: list[Finding],
    flags: list[str],
) -> None:
    """Run checks 17 to 19; without 18 if `is_valid` is None."""
    key, variant = shaped.fields["key"], shaped.variant
    if profile == "compat" and variant != "core2" and _is_same_key(key, identity.public_key):
        if key != identity.public_key:
            flags.append("KEY_FORM")
        key = identity.public_key
    findings += identity_findings(variant, key, identity, is_valid)


def _is_same_key(key: str, public_key: str) -> bool:
    """Return whether two texts are the same key; `key` may be in a loose form."""
    return key == public_key or is_same_point(key, public_key)


def identity_findings(
    variant: Variant, key: str, identity: IdentityRecord | NamedIdentity, is_valid: bool | None
) -> list[Finding]:
    """Return the findings of checks 17 to 19 of an entry with this key; without 18 if `is_valid` is None."""
    findings = []
    if not fits_variant(identity, variant):
        findings.append(
            Finding("IDENTITY_TYPE_UNSUPPORTED", {"field": "identity.type", "actual": shown(identity.type)})
        )
    elif is_valid is False:
        findings.append(identity_invalid(identity.digest))
    if key != identity.public_key:
        evidence = {"field": "key", "expected": shown(identity.public_key), "actual": shown(key)}
        findings.append(Finding("KEY_IDENTITY_MISMATCH", evidence))
    return findings


def identity_invalid(digest: bytes) -> Finding:
    """Return the finding of an identity with an invalid signature."""
    return Finding("IDENTITY_INVALID", {"identity": digest.hex()})


def _verdict(
    checked: Checked,
    shaped: Shaped | None,
    identity: IdentityRecord | None,
    findings: Iterable[Finding],
    flags: Iterable[str],
) -> Verdict:
    reasons = reasons_of(findings)
    is_accepted = not reasons and shaped is not None
    sorted_flags = tuple(sorted(flags))
    writer = None if identity is None else identity.id
    entry = entry_of(checked, shaped, writer, sorted_flags) if is_accepted and shaped is not None else None
    return Verdict(
        "accepted" if is_accepted else "rejected",
        reasons,
        sorted_flags,
        (),
        entry,
        checked.block,
        checked.record_id,
        checked.namespace,
        evidence_of(findings),
    )


def entry_of(checked: Checked, shaped: Shaped, writer: str | None, flags: tuple[str, ...]) -> Entry:
    """Return the entry in a block; `writer` is the id of its identity, None for v0."""
    fields, digest = shaped.fields, checked.record_id or b""
    return Entry(
        record_id=digest,
        cid=canonical_cid(digest, shaped.variant),
        variant=shaped.variant,
        log_id=fields["id"],
        key=fields["key"],
        sig=fields["sig"],
        clock_time=int(fields["clock"]["time"]),
        clock_id=fields["clock"]["id"],
        writer=fields["key"] if writer is None else writer,
        identity_digest=checked.identity_digest,
        block=checked.block or b"",
        next=tuple(cid.digest for cid in shaped.next),
        refs=tuple(cid.digest for cid in shaped.refs),
        payload=fields["payload"],
        flags=flags,
    )

"""Checks 5 to 9: whether a decoded value is an entry, its variant, and whether its links can be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from cbor2 import CBORTag

from strandline.core.verdict import Finding, shown
from strandline.dialects.ipfslog.codec import (
    FIELDS,
    is_canonical,
    is_identity_shape,
    parse_cid,
    parse_link,
)
from strandline.dialects.ipfslog.types import MAX_ID_BYTES, Cid, Variant

Form: TypeAlias = Literal["dag-cbor", "dag-pb", "json"]

_UNSUPPORTED: Final = frozenset({"cid", "additional_data", "enc_links", "enc_links_nonce"})
_CLOCK: Final = frozenset({"id", "time"})
_REQUIRED: Final = ("v", "payload", "clock")
_NO_LINKS: Final[tuple[Cid, ...]] = ()
_NO_REFS: Final[list[Any]] = []


@dataclass(frozen=True, slots=True)
class Shaped:
    """A value that passed checks 5 to 9. `identity_digest` is the digest of the identity named by core2, else None."""

    variant: Variant
    fields: Mapping[str, Any]
    next: tuple[Cid, ...]
    refs: tuple[Cid, ...]
    identity_digest: bytes | None


def shape(value: Any, form: Form, snapshot_id: str | None) -> Shaped | list[Finding]:
    """Return the entry in a value, or the findings of the first check that failed.

    An entry passes these checks:
    - 5, it is a map with `v`, `payload` and `clock`: `NOT_AN_ENTRY`; a byte string: `ENTRY_ENCRYPTED`;
    - 6, it has no member of an unsupported variant: `VARIANT_UNSUPPORTED`;
    - 7, it has a known variant (`VARIANT_UNKNOWN`) and exactly its members (`FIELD_MISSING`, `FIELD_UNKNOWN`; JSON
      may have more, and `hash`) with their types (`TYPE_INVALID`);
    - 8, the log id has 1 to 1,024 bytes (`ID_INVALID`) and equals the id of the snapshot around it
      (`LOG_ID_MISMATCH`);
    - 9, all links can be read: `CID_MALFORMED`, `CID_UNSUPPORTED`; the link to a core2 identity is canonical:
      `CID_NOT_CANONICAL`.
    """
    if type(value) is not dict:
        if type(value) is bytes:
            return [Finding("ENTRY_ENCRYPTED", {"bytes": len(value)})]
        return [Finding("NOT_AN_ENTRY", {"expected": "map", "actual": _kind(value)})]
    missing = [name for name in _REQUIRED if name not in value]
    if missing:
        return [Finding("NOT_AN_ENTRY", {"field": missing[0], "cause": "missing"})]
    if not _UNSUPPORTED.isdisjoint(value):
        unsupported = sorted(_UNSUPPORTED.intersection(value))
        return [Finding("VARIANT_UNSUPPORTED", {"field": unsupported[0]})]
    variant = variant_of(value, form)
    if variant is None:
        return [Finding("VARIANT_UNKNOWN", _variant_evidence(value))]
    findings = _members(value, variant, form) or _id(value["id"], snapshot_id)
    return findings or _linked(value, variant)


def variant_of(value: Mapping[str, Any], form: Form) -> Variant | None:
    """Return the variant from `v` and the type of `identity`; without `identity`, the variant that requires one."""
    v = value["v"]
    if type(v) is not int:
        return None
    if v == 0:
        return None if form == "dag-cbor" else "v0"
    if form == "dag-pb" or v > 2 or v < 0:
        return None
    identity = value.get("identity", _CLOCK)
    if identity is _CLOCK or type(identity) is dict:
        return "v1" if v == 1 else "v2"
    return "core2" if v == 2 and type(identity) is str else None


def _variant_evidence(value: Mapping[str, Any]) -> dict[str, str]:
    return {"field": "v", "actual": shown(str(value["v"])), "identity": _kind(value.get("identity"))}


def _members(value: Mapping[str, Any], variant: Variant, form: Form) -> list[Finding]:
    expected = FIELDS[variant]
    if form != "json" and value.keys() == _NAMES[variant] and _is_well_typed(value, variant):
        return []
    findings = []
    if form == "json" or value.keys() != _NAMES[variant]:
        missing = [name for name in expected if name not in value and not (form == "json" and name == "hash")]
        if missing:
            findings.append(Finding("FIELD_MISSING", {"field": shown(",".join(missing))}))
        unknown = [] if form == "json" else sorted(value.keys() - _NAMES[variant])
        if unknown:
            findings.append(Finding("FIELD_UNKNOWN", {"field": shown(",".join(unknown))}))
    wrong = [name for name in expected if name in value and not _fits(name, value[name], variant, form)]
    if form == "json" and variant == "core2" and not isinstance(value.get("hash"), str | None):
        wrong.append("hash")
    if wrong:
        actual = ",".join(_kind(value[name]) for name in wrong)
        findings.append(Finding("TYPE_INVALID", {"field": ",".join(wrong), "actual": shown(actual)}))
    return findings


_NAMES: Final = {variant: frozenset(fields) for variant, fields in FIELDS.items()}


def _is_well_typed(value: Mapping[str, Any], variant: Variant) -> bool:
    """Return whether all members of a block have their types, in one pass; `_fits` then finds those that do not."""
    clock, identity = value["clock"], value.get("identity")
    item = str if variant in ("core2", "v0") else CBORTag
    return (
        type(value["id"]) is type(value["key"]) is type(value["sig"]) is str
        and value.get("hash") is None
        and type(clock) is dict
        and clock.keys() == _CLOCK
        and _is_clock(clock)
        and (
            variant == "v0" or (type(identity) is str if variant == "core2" else is_identity_shape(identity))
        )
        and all(
            type(links) is list and all(type(each) is item for each in links)
            for links in (value["next"], value.get("refs", _NO_REFS))
        )
    )


def _fits(name: str, member: Any, variant: Variant, form: Form) -> bool:
    kind = type(member)
    if name in ("id", "key", "sig"):
        return kind is str
    if name in ("next", "refs"):
        item = CBORTag if form == "dag-cbor" and variant != "core2" else str
        return kind is list and all(type(each) is item for each in member)
    if name == "clock":
        return kind is dict and member.keys() == _CLOCK and _is_clock(member)
    if name == "hash":
        return member is None or (form == "json" and kind is str)
    if name == "identity":
        return kind is str if variant == "core2" else is_identity_shape(member)
    return True


def _is_clock(clock: Mapping[str, Any]) -> bool:
    return type(clock["id"]) is str and type(clock["time"]) in (int, float)


def _id(log_id: str, snapshot_id: str | None) -> list[Finding]:
    findings = []
    size = len(log_id.encode("utf-8"))
    if not 1 <= size <= MAX_ID_BYTES:
        expected = f"1..{MAX_ID_BYTES} bytes"
        findings.append(Finding("ID_INVALID", {"field": "id", "expected": expected, "actual": size}))
    if snapshot_id is not None and snapshot_id != log_id:
        evidence = {"field": "id", "expected": shown(snapshot_id), "actual": shown(log_id)}
        findings.append(Finding("LOG_ID_MISMATCH", evidence))
    return findings


def _linked(value: Mapping[str, Any], variant: Variant) -> Shaped | list[Finding]:
    findings: list[Finding] = []
    next_ = _links("next", value["next"], findings)
    refs = _links("refs", value["refs"], findings) if variant in ("v2", "core2") else _NO_LINKS
    digest = None
    if variant == "core2":
        text = value["identity"]
        cid = parse_cid(text)
        if isinstance(cid, str):
            findings.append(Finding(cid, {"field": "identity", "actual": shown(text)}))
        elif not is_canonical(text, cid):
            findings.append(Finding("CID_NOT_CANONICAL", {"field": "identity", "actual": shown(text)}))
        else:
            digest = cid.digest
    return findings or Shaped(variant, value, next_, refs, digest)


def _links(field: str, members: Sequence[Any], findings: list[Finding]) -> tuple[Cid, ...]:
    cids = []
    for position, member in enumerate(members):
        cid = parse_cid(member) if type(member) is str else parse_link(member)
        if isinstance(cid, str):
            actual = shown(member) if type(member) is str else member.value[1:41].hex()
            findings.append(Finding(cid, {"field": f"{field}[{position}]", "actual": actual}))
        else:
            cids.append(cid)
    return tuple(cids)


def _kind(value: Any) -> str:
    names = {dict: "map", list: "list", str: "text", bytes: "bytes", bool: "boolean", CBORTag: "link"}
    return "null" if value is None else names.get(type(value), "number")

"""Lines of JSON to entries and back: the profile `native`. An entry's id is a hash over all its fields but `sig`."""

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final, TypedDict, Unpack, cast

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.verdict import Finding, JsonValue, shown
from strandline.dialects.devicelog.codec.bodies import parse_statement
from strandline.dialects.devicelog.codec.scalars import is_ascending, parse_hex, parse_padded_base64
from strandline.dialects.devicelog.types import (
    FOUNDING_CLOCK,
    ID_BYTES,
    KINDS,
    MAX_BODY_BYTES,
    MAX_DEPS,
    MAX_LINE_BYTES,
    MAX_NUMBER,
    MAX_UTC,
    SIGNATURE_BYTES,
    Entry,
    Kind,
    Refused,
    group_namespace,
)

MEMBERS: Final = ("group", "log", "seq", "kind", "lamport", "utc", "prev", "deps", "body", "id", "sig")
"""The members of a line, in the order in which they are written."""

_NAMES: Final = frozenset(MEMBERS)
NESTING: Final = 32
ENTRY_TAG: Final = "strandline/devicelog/entry/1"
RANGES: Final = {"seq": (0, MAX_NUMBER), "lamport": (FOUNDING_CLOCK, MAX_NUMBER), "utc": (0, MAX_UTC)}
"""The least and the greatest value of each number of an entry."""

_HEX: Final = {"log": ID_BYTES, "id": ID_BYTES, "sig": SIGNATURE_BYTES}


class HashedFields(TypedDict):
    """The fields of an entry that its id covers; `group` is None for a founder."""

    group: bytes | None
    log: bytes
    seq: int
    kind: str
    lamport: int
    utc: int
    prev: bytes | None
    deps: Sequence[bytes]
    body_size: int
    body_hash: bytes


def entry_id(**fields: Unpack[HashedFields]) -> bytes:
    """Return the id of an entry, 32 bytes, which is also what its log signs.

    The hash covers size and SHA-256 of the body, not the body: after an erasure the id can still be computed.
    """
    return hashlib.sha256(entry_content(**fields)).digest()


def entry_content(
    *,
    group: bytes | None,
    log: bytes,
    seq: int,
    kind: str,
    lamport: int,
    utc: int,
    prev: bytes | None,
    deps: Sequence[bytes],
    body_size: int,
    body_hash: bytes,
) -> bytes:
    """Return the bytes whose SHA-256 is the id of an entry: netstrings, as `tagged_hash` joins them."""
    # All fields are ASCII: ids are most of the time of a verdict besides its signature.
    fields = (
        ENTRY_TAG, "" if group is None else group.hex(), log.hex(), str(seq), kind, str(lamport), str(utc),
        "" if prev is None else prev.hex(), str(len(deps)), *[each.hex() for each in deps], str(body_size),
        body_hash.hex(),
    )  # fmt: skip
    return "".join([f"{len(each)}:{each}," for each in fields]).encode("ascii")


def write_entry(entry: Entry) -> bytes:
    """Return the line of a `native` entry, without LF: compact JSON, members in the order of `MEMBERS`.

    Raises:
        ValueError: the body was erased.
    """
    if entry.body is None:
        raise ValueError("an entry without its body has no line")
    values = {
        "group": "" if entry.is_founder else entry.group.hex(),
        "log": entry.log.hex(),
        "seq": entry.seq,
        "kind": entry.kind,
        "lamport": entry.lamport,
        "utc": entry.utc,
        "prev": "" if entry.prev is None else entry.prev.hex(),
        "deps": [each.hex() for each in entry.deps],
        "body": base64.b64encode(entry.body).decode("ascii"),
        "id": entry.record_id.hex(),
        "sig": entry.sig.hex(),
    }
    return json.dumps(values, separators=(",", ":")).encode("ascii")


def read_entry(line: bytes) -> Entry | Refused:
    """Return the entry of a line; its signature is not verified here.

    A step is reached only if those before it passed; within a step all reasons are collected. These hold:
    1. the line has at most 1,048,576 bytes (LINE_TOO_LARGE);
    2. it is one strict JSON object (JSON_INVALID);
    3. it has exactly the members of `MEMBERS` (FIELD_MISSING, FIELD_UNKNOWN);
    4. types and spellings (TYPE_INVALID), ranges (INT_RANGE), a body of at most 262,144 bytes (BODY_TOO_LARGE), at most
       1,024 deps (DEPS_TOO_MANY), strictly ascending (DEPS_ORDER);
    5. the kind is known (KIND_UNKNOWN);
    6. seq, prev, kind, group, deps and the founder's clock fit a start of a log, or its absence (KEY_SHAPE);
    7. the body has the form of its kind (BODY_FORMAT);
    8. the claimed id is the computed one (ID_MISMATCH).

    The namespace of a refused line is known after step 4, that of a founder after step 8.
    """
    members = _members(line)
    if isinstance(members, Refused):
        return members
    values, findings = _values(members)
    if findings:
        return Refused(tuple(findings))
    return _entry(values)


def _members(line: bytes) -> dict[str, Any] | Refused:
    if len(line) > MAX_LINE_BYTES:
        return _refused("LINE_TOO_LARGE", expected=MAX_LINE_BYTES, actual=len(line))
    try:
        value = strict_json(line, nesting=NESTING)
    except JsonRefused as refused:
        return Refused((Finding("JSON_INVALID", refused.evidence),))
    if not isinstance(value, dict):
        return _refused("JSON_INVALID", cause="syntax", expected="one object")
    if value.keys() == _NAMES:
        return value
    findings = [Finding("FIELD_MISSING", {"field": name}) for name in MEMBERS if name not in value]
    findings += [Finding("FIELD_UNKNOWN", {"field": shown(name)}) for name in value if name not in MEMBERS]
    return Refused(tuple(findings))


def _values(members: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Return the values of step 4 by member, and what is wrong with them."""
    values: dict[str, Any] = {}
    findings: list[Finding] = []
    for name, size in _HEX.items():
        values[name] = parse_hex(members[name], size)
    for name in ("group", "prev"):
        values[name] = b"" if members[name] == "" else parse_hex(members[name])
    values["kind"] = members["kind"] if isinstance(members["kind"], str) else None
    for name, (least, most) in RANGES.items():
        # A bool is an int in Python; any other number than a plain integer token is not one here.
        values[name] = number = members[name] if type(members[name]) is int else None
        if number is not None and not least <= number <= most:
            evidence: dict[str, JsonValue] = {"field": name, "expected": f"{least}..{most}"}
            findings.append(Finding("INT_RANGE", evidence))
    values["deps"] = deps = _deps(members["deps"])
    if deps is not None and len(deps) > MAX_DEPS:
        findings.append(Finding("DEPS_TOO_MANY", {"expected": MAX_DEPS, "actual": len(deps)}))
    if deps is not None and not is_ascending(deps):
        findings.append(Finding("DEPS_ORDER", {"field": "deps"}))
    values["body"] = body = parse_padded_base64(members["body"])
    if body is not None and len(body) > MAX_BODY_BYTES:
        findings.append(Finding("BODY_TOO_LARGE", {"expected": MAX_BODY_BYTES, "actual": len(body)}))
    if None in values.values():
        findings += [Finding("TYPE_INVALID", {"field": name}) for name in MEMBERS if values[name] is None]
    return values, findings


def _deps(value: object) -> tuple[bytes, ...] | None:
    if not isinstance(value, list):
        return None
    deps = tuple(each for each in map(parse_hex, value) if each is not None)
    return deps if len(deps) == len(value) else None


def _entry(values: dict[str, Any]) -> Entry | Refused:
    """Return the entry of well-formed values: steps 5 to 8."""
    founds = not values["group"]
    namespace = None if founds else group_namespace(values["group"])
    if values["kind"] not in KINDS:
        return _refused("KIND_UNKNOWN", namespace, actual=shown(values["kind"]))
    kind = cast("Kind", values["kind"])
    fault = _shape_fault(values, founds=founds)
    if fault is not None:
        return _refused("KEY_SHAPE", namespace, field=fault)
    body: bytes = values["body"]
    states = kind not in ("msg", "ack")
    statement = parse_statement(kind, body, founds=values["log"] if founds else None) if states else None
    if (states and statement is None) or (kind == "ack" and body):
        return _refused("BODY_FORMAT", namespace, field="body", expected=kind)
    log, seq, lamport, utc, deps = (values[name] for name in ("log", "seq", "lamport", "utc", "deps"))
    size, digest, prev = len(body), hashlib.sha256(body).digest(), values["prev"] or None
    computed = entry_id(
        group=values["group"] or None, log=log, seq=seq, kind=kind, lamport=lamport, utc=utc, prev=prev, deps=deps,
        body_size=size, body_hash=digest,
    )  # fmt: skip
    if computed != values["id"]:
        return _refused("ID_MISMATCH", namespace, expected=computed.hex(), actual=values["id"].hex())
    return Entry(
        record_id=computed, profile="native", group=values["group"] or computed, log=log, seq=seq, kind=kind,
        lamport=lamport, utc=utc, prev=prev, deps=deps, statement=statement, body=body, body_size=size,
        body_hash=digest, sig=values["sig"],
    )  # fmt: skip


def _shape_fault(values: dict[str, Any], *, founds: bool) -> str | None:
    """Return the member that does not fit a start of a log, or its absence."""
    starts = values["kind"] == "key"
    faults = {
        "seq": (values["seq"] == 0) != starts,
        "prev": (not values["prev"]) != starts,
        "group": founds and not starts,
        "deps": starts and len(values["deps"]) != (0 if founds else 1),
        "lamport": founds and values["lamport"] != FOUNDING_CLOCK,
    }
    return next((name for name, is_wrong in faults.items() if is_wrong), None)


def _refused(reason: str, namespace: str | None = None, **evidence: JsonValue) -> Refused:
    return Refused((Finding(reason, evidence),), namespace)

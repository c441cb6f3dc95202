"""Frames, one JSON object per line: parsed strictly, written in one canonical form."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.limits import MAX_VALUES
from strandline.core.verdict import Evidence, Finding, evidence_of, reasons_of, shown
from strandline.dialects.sdmp.codec.lines import ID_FORMS_IN_WORDS, is_id, profile_of
from strandline.dialects.sdmp.types import Announcement, Frame, Unreadable

MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
MAX_FRAME_ELEMENTS: Final = 50_000
MAX_FRAME_NESTING: Final = 32
MAX_SEQ: Final = 2**64 - 1

# Only these reasons can be caused by a missing LF: the checks of stage 1 look at the bytes alone.
_STAGE_1_REASONS: Final = frozenset({"FRAME_TOO_LARGE", "JSON_INVALID"})

_NO_OBJECT: Final = Finding("JSON_INVALID", {"cause": "syntax", "expected": "one object"})


def parse_frame(raw: bytes) -> Frame | Announcement | Unreadable:
    """Return the content of one frame, or why it cannot be opened; `raw` is one line of a file without its LF.

    A frame passes these checks in this order; a step runs only if all steps before it passed (node journal rules,
    sections 1 and 2):
    - at most 16 MiB, else `FRAME_TOO_LARGE`;
    - one strict JSON object with at most 32 levels, lone surrogates allowed, else `JSON_INVALID`;
    - exactly one of `journal` and `resources`; all members present with their types; `since` in the node's form;
      `seq` in 0..2^64-1; else `FRAME_SHAPE`. At most 50,000 elements, else `FRAME_TOO_MANY`. Both are reported. A
      frame with too many JSON values to be parsed is `FRAME_TOO_MANY` too;
    - `node` has the id form of a profile, else `BAD_NODE`.

    Other members are ignored, and so is `seq` of a batch.
    """
    if len(raw) > MAX_FRAME_BYTES:
        return replace(frame_too_large(len(raw)), raw=raw)
    try:
        value = strict_json(raw, numbers="exact", nesting=MAX_FRAME_NESTING, surrogates="keep")
    except JsonRefused as refused:
        return _damage(raw, [_refused(raw, refused)])
    if not isinstance(value, dict):
        return _damage(raw, [_NO_OBJECT])
    findings = _shape(value)
    if findings:
        return _damage(raw, findings)
    return _opened(raw, value)


def _refused(raw: bytes, refused: JsonRefused) -> Finding:
    if refused.cause != "values":
        return Finding("JSON_INVALID", refused.evidence)
    if not raw.lstrip().startswith(b"{"):
        return _NO_OBJECT
    return Finding("FRAME_TOO_MANY", {"field": "values", "expected": MAX_VALUES, "actual": "more"})


def frame_too_large(length: int) -> Unreadable:
    """Return the `FRAME_TOO_LARGE` record of a frame of `length` bytes, without its raw bytes: the caller adds them."""
    evidence: Evidence = {"field": "bytes", "expected": MAX_FRAME_BYTES, "actual": length}
    return _damage(b"", [Finding("FRAME_TOO_LARGE", evidence)])


def truncated(damage: Unreadable) -> Unreadable:
    """Return the record of a last frame without LF: `TRUNCATED` is added if its bytes caused the failure."""
    if not _STAGE_1_REASONS & set(damage.reasons):
        return damage
    cut = evidence_of([Finding("TRUNCATED", {"field": "end of file", "expected": "LF", "actual": "none"})])
    reasons = tuple(sorted({*damage.reasons, "TRUNCATED"}))
    return replace(damage, reasons=reasons, evidence={**damage.evidence, **cut})


def _damage(raw: bytes, findings: list[Finding]) -> Unreadable:
    return Unreadable(reasons_of(findings), raw, 0, evidence_of(findings))


def _wrong(field: str, expected: str, actual: Any) -> Finding:
    found = shown(actual) if isinstance(actual, str) else json_type(actual)
    return Finding("FRAME_SHAPE", {"field": field, "expected": expected, "actual": found})


def json_type(value: Any) -> str:
    """Return the name that evidence uses for the type of a value from `strict_json`."""
    names = {
        type(None): "null or absent",
        bool: "boolean",
        int: "integer",
        str: "text",
        list: "array",
        dict: "object",
    }
    return names.get(type(value), "number")


def _shape(value: dict[str, Any]) -> list[Finding]:
    if ("journal" in value) == ("resources" in value):
        actual = "both" if "journal" in value else "none"
        return [
            Finding(
                "FRAME_SHAPE", {"field": "journal, resources", "expected": "one of the two", "actual": actual}
            )
        ]
    if "journal" in value:
        wrong, elements = _journal_shape(value), _entries(value["journal"])
    else:
        wrong, elements = _resources_shape(value), value["resources"]
    findings = [] if wrong is None else [wrong]
    if isinstance(elements, list) and len(elements) > MAX_FRAME_ELEMENTS:
        evidence: Evidence = {"field": "elements", "expected": MAX_FRAME_ELEMENTS, "actual": len(elements)}
        findings.append(Finding("FRAME_TOO_MANY", evidence))
    return findings


def _entries(journal: Any) -> Any:
    return journal.get("entries") if isinstance(journal, dict) else None


def _journal_shape(value: dict[str, Any]) -> Finding | None:
    node, journal = value.get("node"), value["journal"]
    if not isinstance(node, str):
        return _wrong("node", "text", node)
    if not isinstance(journal, dict):
        return _wrong("journal", "object", journal)
    since, entries = journal.get("since"), journal.get("entries")
    if not isinstance(since, str):
        return _wrong("journal.since", "text", since)
    if not isinstance(entries, list):
        return _wrong("journal.entries", "array", entries)
    for position, entry in enumerate(entries):
        if not isinstance(entry, str):
            return _wrong(f"journal.entries[{position}]", "text", entry)
    profile = profile_of(node)
    if profile is not None and not is_id(since, profile):
        return _wrong("journal.since", f"id of profile {profile}, as the node", since)
    return None


def _resources_shape(value: dict[str, Any]) -> Finding | None:
    node, resources = value.get("node"), value["resources"]
    if not isinstance(node, str):
        return _wrong("node", "text", node)
    if not isinstance(resources, list):
        return _wrong("resources", "array", resources)
    for position, element in enumerate(resources):
        if not isinstance(element, dict):
            return _wrong(f"resources[{position}]", "object", element)
        for name in ("author", "resource"):
            if not isinstance(element.get(name), str):
                return _wrong(f"resources[{position}].{name}", "text", element.get(name))
    if "seq" in value:
        seq = value["seq"]
        if not isinstance(seq, int) or isinstance(seq, bool):
            return _wrong("seq", "integer in 0..2^64-1", seq)
        if not 0 <= seq <= MAX_SEQ:
            return _wrong("seq", "integer in 0..2^64-1", str(seq))
    return None


def _opened(raw: bytes, value: dict[str, Any]) -> Frame | Announcement | Unreadable:
    node: str = value["node"]
    profile = profile_of(node)
    if profile is None:
        evidence: Evidence = {"field": "node", "expected": ID_FORMS_IN_WORDS, "actual": shown(node)}
        return _damage(raw, [Finding("BAD_NODE", evidence)])
    if "journal" in value:
        journal = value["journal"]
        # A lone surrogate becomes bytes that are not UTF-8, which no line form accepts.
        entries = tuple(entry.encode("utf-8", "surrogatepass") for entry in journal["entries"])
        return Frame(node, profile, journal["since"], entries)
    elements = tuple((element["author"], element["resource"]) for element in value["resources"])
    return Announcement(node, profile, elements, value.get("seq"))


def batch(node: str, since: str, entries: Iterable[bytes]) -> bytes:
    """Return the frame that carries lines of a node: compact ASCII JSON without LF.

    Raises:
        ValueError: `node` or `since` is not an id, they are of different profiles, or an entry is not UTF-8.
    """
    profile = profile_of(node)
    if profile is None or not is_id(since, profile):
        raise ValueError("node and since must be ids of one profile")
    texts = [entry.decode("utf-8", "surrogatepass") for entry in entries]
    return _frame({"node": node, "journal": {"since": since, "entries": texts}})


def announce(node: str, pairs: Iterable[tuple[str, str]], seq: int | None = None) -> bytes:
    """Return the frame in which a node announces (author, resource) pairs: compact ASCII JSON without LF.

    Raises:
        ValueError: an argument is not an id of the node's profile, or `seq` is outside 0..2^64-1.
    """
    profile = profile_of(node)
    pairs = list(pairs)
    if profile is None or not all(is_id(id_, profile) for pair in pairs for id_ in pair):
        raise ValueError("node, authors and resources must be ids of one profile")
    if seq is not None and not 0 <= seq <= MAX_SEQ:
        raise ValueError("seq must be in 0..2^64-1")
    members: dict[str, Any] = {"node": node, "resources": [{"author": a, "resource": r} for a, r in pairs]}
    return _frame(members if seq is None else {**members, "seq": seq})


def announced_element(author: str, resource: str) -> bytes:
    """Return the canonical form of an announced element: the raw bytes of its quarantine row."""
    return _frame({"author": author, "resource": resource})


def _frame(members: dict[str, Any]) -> bytes:
    return json.dumps(members, separators=(",", ":"), ensure_ascii=True).encode("ascii")

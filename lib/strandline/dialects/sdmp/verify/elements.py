"""The checks of one element, and the evidence of every reason a line can be given. Positions count from 1."""

from collections.abc import Sequence

from strandline.core.verdict import Finding
from strandline.dialects.sdmp.codec import malformed_cause, non_canonical_fields, parse_line
from strandline.dialects.sdmp.types import Line, Profile

EITHER_DAMAGED = (
    "either the line before or this number is damaged: the line before is not covered, the chain cannot tell"
)


def check_element(
    raw: bytes, *, node: str, profile: Profile, first: bool, strict: bool
) -> Line | tuple[str, ...]:
    """Return the line that an element is, or the reasons why it is none that its journal may hold here.

    These hold (node journal rules, checks 5 to 7):
    - it has one of the two line forms, else `MALFORMED_LINE`;
    - a fingerprint stands first in its file or frame and equals the node, else `FIRST_LINE_MISPLACED`;
    - `strict`: no id ends with an impossible character, else `NON_CANONICAL_ID`.

    After `MALFORMED_LINE` or `FIRST_LINE_MISPLACED` the next element's claim is open, after
    `NON_CANONICAL_ID` not.
    """
    line = well_placed(raw, node=node, profile=profile, position=1 if first else 2)
    if isinstance(line, Finding):
        return (line.reason,)
    return ("NON_CANONICAL_ID",) if strict and non_canonical_fields(line) else line


def well_placed(raw: bytes, *, node: str, profile: Profile, position: int) -> Line | Finding:
    """Return the line that passed checks 5 and 6, or what it failed."""
    line = parse_line(raw, profile)
    if isinstance(line, str):
        return malformed(raw, position)
    if line.is_first and (position > 1 or line.raw != node.encode("ascii")):
        return misplaced(line.raw, node, position)
    return line


def malformed(raw: bytes, position: int) -> Finding:
    """Check 5 failed: the bytes have neither form of a line."""
    return Finding("MALFORMED_LINE", {"position": position, "cause": malformed_cause(raw)})


def misplaced(raw: bytes, node: str, position: int) -> Finding:
    """Check 6 failed: a fingerprint that is not the first element, or names another node."""
    fingerprint = raw.decode("ascii")
    cause = "not_first" if fingerprint == node else "other_node"
    return Finding(
        "FIRST_LINE_MISPLACED",
        {"position": position, "cause": cause, "expected": node, "actual": fingerprint},
    )


def non_canonical(line: Line, position: int) -> Finding | None:
    """Check 7, for a strict reading: the ids that end with an impossible character, or None."""
    fields = non_canonical_fields(line)
    if not fields:
        return None
    text = line.raw.decode("ascii")
    ids = {"fingerprint": text, "number": line.number, "author": line.author, "resource": line.resource}
    return non_canonical_ids(position, fields, [ids[field] for field in fields])


def non_canonical_ids(position: int, fields: Sequence[str], ids: Sequence[str | None]) -> Finding:
    """Check 7 failed: these ids, which the fields hold, end with an impossible character."""
    return Finding(
        "NON_CANONICAL_ID",
        {
            "position": position,
            "field": ",".join(fields),
            "expected": "last character one of AQgw",
            "actual": ids,
        },
    )


def number_mismatch(position: int, expected: str, actual: str, line_before: bytes) -> Finding:
    """Check 8 failed: the number is not the hash of the line before it in the same file or frame."""
    return Finding(
        "LINE_NUMBER_MISMATCH",
        {
            "position": position,
            "expected": expected,
            "actual": actual,
            "line_before": line_before.decode("ascii"),
            "note": EITHER_DAMAGED,
        },
    )


def not_held(hash_: str, position: int) -> Finding:
    """Check 9 failed: a line of our own node that we do not hold."""
    return Finding(
        "OWN_LINE_NOT_HELD",
        {"position": position, "expected": "a line that is held", "actual": hash_},
    )


def predecessor_unknown(position: int, since: str | None) -> Finding:
    """Check 10 failed for now: no accepted line has the hash that the number names."""
    return Finding("PREDECESSOR_UNKNOWN", {"position": position, "since": since})

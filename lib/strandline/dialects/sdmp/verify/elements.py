"""The checks of one element, and the evidence of every reason for rejecting a line. Positions count from 1."""

from collections.abc import Sequence

from strandline.core.verdict import Finding
from strandline.dialects.sdmp.codec import CANONICAL_ENDS, malformed_cause, non_canonical_fields, parse_line
from strandline.dialects.sdmp.types import Line, Profile

_EITHER_DAMAGED = (
    "either the line before or this number is damaged: the line before is not covered, the chain cannot tell"
)


def well_placed(raw: bytes, *, node: str, profile: Profile, position: int) -> Line | Finding:
    """Return the line of an element, or the finding of the first failed check (node journal rules, checks 5 and 6).

    - 5, it has one of the two line forms: `MALFORMED_LINE`;
    - 6, a fingerprint is the first element of its file or frame and equals the node: `FIRST_LINE_MISPLACED`.
    """
    line = parse_line(raw, profile)
    if isinstance(line, str):
        return malformed(len(raw), position)
    if line.is_first and (position > 1 or line.raw != node.encode("ascii")):
        return misplaced(line.raw, node, position)
    return line


def malformed(length: int, position: int) -> Finding:
    """Return the finding of check 5: an element of so many bytes has neither form of a line."""
    return Finding("MALFORMED_LINE", {"position": position, "cause": malformed_cause(length)})


def misplaced(raw: bytes, node: str, position: int) -> Finding:
    """Return the finding of check 6: a fingerprint that is not the first element, or that names another node."""
    fingerprint = raw.decode("ascii")
    cause = "not_first" if fingerprint == node else "other_node"
    return Finding(
        "FIRST_LINE_MISPLACED",
        {"position": position, "cause": cause, "expected": node, "actual": fingerprint},
    )


def non_canonical(line: Line, position: int) -> Finding | None:
    """Return the finding of check 7, for a strict lake, with the ids that are not canonical; None if all are."""
    fields = non_canonical_fields(line)
    if not fields:
        return None
    text = line.raw.decode("ascii")
    ids = {"fingerprint": text, "number": line.number, "author": line.author, "resource": line.resource}
    return non_canonical_ids(position, fields, [ids[field] for field in fields])


def non_canonical_ids(position: int, fields: Sequence[str], ids: Sequence[str | None]) -> Finding:
    """Return the finding of check 7: `ids`, the values of `fields`, are not canonical."""
    return Finding(
        "NON_CANONICAL_ID",
        {
            "position": position,
            "field": ",".join(fields),
            "expected": f"last character one of {CANONICAL_ENDS}",
            "actual": ids,
        },
    )


def number_mismatch(position: int, expected: str, actual: str, line_before: bytes) -> Finding:
    """Return the finding of check 8: the number is not the hash of the line before it in the same file or frame."""
    return Finding(
        "LINE_NUMBER_MISMATCH",
        {
            "position": position,
            "expected": expected,
            "actual": actual,
            "line_before": line_before.decode("ascii"),
            "note": _EITHER_DAMAGED,
        },
    )


def not_stored(hash_: str, position: int) -> Finding:
    """Return the finding of check 9: a line of a local node that is not stored."""
    return Finding(
        "OWN_LINE_NOT_HELD",
        {"position": position, "expected": "a line that is held", "actual": hash_},
    )


def predecessor_unknown(position: int, since: str | None) -> Finding:
    """Return the finding of check 10: no accepted line has the hash that the number names; the line is deferred."""
    return Finding("PREDECESSOR_UNKNOWN", {"position": position, "since": since})

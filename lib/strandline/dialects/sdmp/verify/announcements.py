"""Announced resources: which of them an own node may write, and the record that each other one is."""

from collections.abc import Collection

from strandline.core.verdict import Evidence, Finding, evidence_of, reasons_of, shown
from strandline.dialects.sdmp.codec import announced_element, is_canonical_id, is_id
from strandline.dialects.sdmp.types import Announcement, Pair, Unreadable
from strandline.dialects.sdmp.verify.elements import non_canonical_ids

NO_NODES: frozenset[str] = frozenset()


def judge_announcement(
    announcement: Announcement, own: Collection[str] = NO_NODES, *, strict: bool = False, first: int = 1
) -> tuple[Pair | Unreadable, ...]:
    """Return, per element in frame order, the pair that it announces, or the rejected record that it is.

    These hold for a pair (node journal rules, checks 3, 4 and 7); a check runs if none before it failed:
    - the node is one of `own`: `NOT_OWN_NODE`;
    - author and resource have the id form of the node's profile: `BAD_AUTHOR`, `BAD_RESOURCE`, both reported;
    - `strict`, no id of the line to be, nor the node, ends with an impossible character: `NON_CANONICAL_ID`.
      A lake must not write what it would refuse to read.

    `first` is the position of the first element in the frame that it came in.
    """
    return tuple(
        _judged(announcement, element, position, own, strict)
        for position, element in enumerate(announcement.elements, start=first)
    )


def refused_announcement(
    announcement: Announcement, own: Collection[str] = NO_NODES, *, strict: bool = False
) -> tuple[Unreadable, ...]:
    """Return the rejected ones of the announced elements, one record each, in frame order."""
    judged = judge_announcement(announcement, own, strict=strict)
    return tuple(each for each in judged if isinstance(each, Unreadable))


def _judged(
    announcement: Announcement, element: Pair, position: int, own: Collection[str], strict: bool
) -> Pair | Unreadable:
    if announcement.node not in own:
        findings = [_not_own(announcement.node, position)]
    else:
        findings = _bad_ids(announcement, element, position)
        if strict and not findings:
            findings = _non_canonical(announcement, element, position)
    if not findings:
        return element
    raw = announced_element(*element)
    return Unreadable(reasons_of(findings), raw, 0, evidence_of(findings), announcement.node)


def _not_own(node: str, position: int) -> Finding:
    evidence: Evidence = {"position": position, "field": "node", "expected": "an own node", "actual": node}
    return Finding("NOT_OWN_NODE", evidence)


def _bad_ids(announcement: Announcement, element: Pair, position: int) -> list[Finding]:
    found = []
    for reason, field, id_ in zip(
        ("BAD_AUTHOR", "BAD_RESOURCE"), ("author", "resource"), element, strict=True
    ):
        if not is_id(id_, announcement.profile):
            expected = f"id of profile {announcement.profile}, as the node"
            evidence: Evidence = {
                "position": position,
                "field": field,
                "expected": expected,
                "actual": shown(id_),
            }
            found.append(Finding(reason, evidence))
    return found


def _non_canonical(announcement: Announcement, element: Pair, position: int) -> list[Finding]:
    ids = dict(zip(("node", "author", "resource"), (announcement.node, *element), strict=True))
    odd = [field for field, id_ in ids.items() if not is_canonical_id(id_, announcement.profile)]
    return [non_canonical_ids(position, odd, [ids[field] for field in odd])] if odd else []

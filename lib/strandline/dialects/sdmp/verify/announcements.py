"""Announced resources: which elements a local node may write, and the rejected record of each other one."""

from collections.abc import Collection

from strandline.core.verdict import Evidence, Finding, evidence_of, reasons_of, shown
from strandline.dialects.sdmp.codec import announced_element, is_canonical_id, is_id
from strandline.dialects.sdmp.types import Announcement, Pair, Unreadable
from strandline.dialects.sdmp.verify.elements import non_canonical_ids

NO_NODES: frozenset[str] = frozenset()


def judge_announcement(
    announcement: Announcement,
    local_nodes: Collection[str] = NO_NODES,
    *,
    strict: bool = False,
    first: int = 1,
) -> tuple[Pair | Unreadable, ...]:
    """Return, for each element in frame order, its pair or its rejected record.

    A pair passes these checks (node journal rules, checks 3, 4 and 7); a check runs only if all before it passed:
    - the node is in `local_nodes`: `NOT_OWN_NODE`;
    - author and resource have the id form of the node's profile: `BAD_AUTHOR`, `BAD_RESOURCE`, both reported;
    - `strict`: node, author and resource are canonical: `NON_CANONICAL_ID`. A lake must not write a line that it
      would refuse to read.

    `first` is the position of the first element in its frame.
    """
    return tuple(
        _judged(announcement, element, position, local_nodes, strict)
        for position, element in enumerate(announcement.elements, start=first)
    )


def refused_announcement(
    announcement: Announcement, local_nodes: Collection[str] = NO_NODES, *, strict: bool = False
) -> tuple[Unreadable, ...]:
    """Return the rejected records of the announced elements, in frame order."""
    judged = judge_announcement(announcement, local_nodes, strict=strict)
    return tuple(each for each in judged if isinstance(each, Unreadable))


def _judged(
    announcement: Announcement, element: Pair, position: int, local_nodes: Collection[str], strict: bool
) -> Pair | Unreadable:
    if announcement.node not in local_nodes:
        findings = [_not_local(announcement.node, position)]
    else:
        findings = _bad_ids(announcement, element, position)
        if strict and not findings:
            findings = _non_canonical(announcement, element, position)
    if not findings:
        return element
    raw = announced_element(*element)
    return Unreadable(reasons_of(findings), raw, 0, evidence_of(findings), announcement.node)


def _not_local(node: str, position: int) -> Finding:
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
    fields = [field for field, id_ in ids.items() if not is_canonical_id(id_, announcement.profile)]
    return [non_canonical_ids(position, fields, [ids[field] for field in fields])] if fields else []

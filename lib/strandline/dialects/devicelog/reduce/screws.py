"""Screws: signed statements that a device rewound its view to a position and replayed from there.

Anyone who has the entries can check a screw. A false one changes no view; it is shown with its code.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership import Memberships
from strandline.dialects.devicelog.reduce.screw_facts import ScrewFacts, unpacked
from strandline.dialects.devicelog.reduce.view import empty_view_hash
from strandline.dialects.devicelog.reduce.view_hashes import ViewHashes
from strandline.dialects.devicelog.reduce.whole import Whole, whole_of
from strandline.dialects.devicelog.types import Header, ScrewStatement

TRUE: Final = "true"


@dataclass(frozen=True, slots=True)
class Screw:
    """A judged screw: its index, its verdict, and the effective bounds before and after, None after SCREW_FROM.

    `past_earlier`: it rewinds further than the screw before it in its log.
    """

    index: int
    verdict: str
    before: dict[int, int] | None
    after: dict[int, int] | None
    past_earlier: bool


def judged_screws(whole: Whole, memberships: Memberships, views: ViewHashes) -> Iterator[Screw]:
    """Yield the screws of a set of entries with their verdicts, log by log.

    The screws of a log cost n hashes, the rows replayed, and the rows added. A view that is named again, or that is a
    prefix of the view before it, costs no hash.
    """
    graph = whole.graph
    earlier = _earlier_screws(whole)
    for facts in sorted(whole.screws, key=lambda facts: _place(graph, facts.index)):
        screw = statement_of(graph.entries[facts.index])
        before = earlier.get(facts.index)
        past_earlier = before is not None and screw.rewind < statement_of(graph.entries[before]).rewind
        yield _judged(facts, screw, views, memberships, past_earlier=past_earlier)


def _judged(
    facts: ScrewFacts,
    screw: ScrewStatement,
    views: ViewHashes,
    memberships: Memberships,
    *,
    past_earlier: bool,
) -> Screw:
    if facts.before is None:
        return Screw(facts.index, "SCREW_FROM", None, None, past_earlier)
    past, own = unpacked(facts.before), unpacked(facts.after)
    before, after = memberships.within(past), memberships.within(own)
    return Screw(facts.index, verdict_on(screw, views, before, after), before, after, past_earlier)


def verdict_on(
    screw: ScrewStatement,
    views: ViewHashes,
    before: Mapping[int, int],
    after: Mapping[int, int],
    start: int = 0,
) -> str:
    """Return the verdict on a screw whose heads fit: the first that applies, else `true`.

    - SCREW_FROM: a head is not in its past, or not exactly one of them is prev (of a prev that is a remove-log: it, or
      the entry before it); see `screw_facts`;
    - SCREW_BEFORE: (n, v_n) is not that of the view of the heads' pasts;
    - SCREW_AFTER: (n', v_n') is not that of the view of its own past;
    - SCREW_REWIND: r is greater than the LCP of the two, or v_r is not its hash;
    - SCREW_NEEDLESS: the view before is a prefix of the view after.

    `before` and `after` are the effective bounds. `views` may leave out the first `start` rows, if both have them and
    the screw rewinds to none of them. A wrong number of rows costs no hash.
    """
    old, new = views.counts(before), views.counts(after)
    n_before, n_after = start + sum(old.values()), start + sum(new.values())
    if screw.n_before != n_before or screw.v_before != views.last(old):
        return "SCREW_BEFORE"
    if screw.n_after != n_after or screw.v_after != views.last(new):
        return "SCREW_AFTER"
    common = start + views.common(old, new)
    if screw.rewind > common or screw.v_rewind != views.at(old, screw.rewind - start):
        return "SCREW_REWIND"
    return "SCREW_NEEDLESS" if common == n_before else TRUE


def check_screw(entry: Header, entries: Iterable[Header]) -> str:
    """Return the verdict on a screw: `true`, or its code. `entries` contain its past, and possibly more.

    Raises:
        ValueError: the entry is no screw, or an entry of its past is missing.
    """
    statement_of(entry)
    whole = whole_of([*entries, entry])
    index = whole.graph.index[entry.record_id]
    facts = next(each for each in whole.screws if each.index == index)
    views = ViewHashes(whole.graph.branches, empty_view_hash(entry.group))
    return _judged(facts, statement_of(entry), views, Memberships(whole.graph), past_earlier=False).verdict


def statement_of(header: Header) -> ScrewStatement:
    """Return the statement of a screw.

    Raises:
        ValueError: the entry is no screw.
    """
    if not isinstance(header.statement, ScrewStatement):
        raise ValueError(f"the entry {header.record_id.hex()} is no screw")
    return header.statement


def _place(graph: Graph, index: int) -> tuple[bytes, int, int]:
    return graph.entries[index].log, graph.branch[index], graph.entries[index].seq


def _earlier_screws(whole: Whole) -> dict[int, int]:
    """Return the screw before each screw in its log, where there is one, also before a fork."""
    graph = whole.graph
    by_branch: dict[int, list[int]] = {}
    for facts in whole.screws:
        by_branch.setdefault(graph.branch[facts.index], []).append(facts.index)
    found: dict[int, int] = {}
    inherited: dict[int, int] = {}
    for number, branch in enumerate(graph.branches):
        if branch.parent != NONE:
            parent = graph.branch[branch.parent]
            own = by_branch.get(parent, [])
            at = bisect_right(own, branch.parent)
            before = own[at - 1] if at else inherited.get(parent, NONE)
            if before != NONE:
                inherited[number] = before
        last = inherited.get(number, NONE)
        for index in by_branch.get(number, ()):
            if last != NONE:
                found[index] = last
            last = index
    return found

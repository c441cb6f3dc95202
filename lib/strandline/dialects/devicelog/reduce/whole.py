"""The graph of a whole set of entries. The past of an entry is freed as soon as no later entry needs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.screw_facts import ScrewFacts, screw_facts
from strandline.dialects.devicelog.types import Header, RemoveStatement, ScrewStatement


@dataclass(frozen=True, slots=True)
class Whole:
    """A set of entries: its graph, with branches as the page names them and the pasts of tips, and its screws."""

    graph: Graph
    screws: tuple[ScrewFacts, ...]


def whole_of(headers: Iterable[Header]) -> Whole:
    """Return the graph of a set of entries that is closed under references; copies count once.

    Raises:
        ValueError: an entry names one that is not there, or is of another group.
    """
    ordered = sorted({each.record_id: each for each in headers}.values(), key=_parents_first)
    places = {header.record_id: index for index, header in enumerate(ordered)}
    heirs, followed = _heirs(ordered, places)
    users = [0 if header.record_id in followed else 1 for header in ordered]
    for header in ordered:
        for place in _users(header, places):
            users[place] += 1
    stated = (header.statement for header in ordered)
    graph = Graph(heirs, {each.last_id or each.log for each in stated if isinstance(each, RemoveStatement)})
    screws: list[ScrewFacts] = []
    for index, header in enumerate(ordered):
        graph.add(header)
        if isinstance(header.statement, ScrewStatement):
            screws.append(screw_facts(graph, index))
        for place in _users(header, places):
            users[place] -= 1
            if not users[place]:
                graph.free(place)
    return Whole(graph, tuple(screws))


def _heirs(
    ordered: Sequence[Header], places: Mapping[bytes, int]
) -> tuple[dict[bytes, bytes], Mapping[bytes, bytes]]:
    """Return the child of least id of each fork point, and of each entry that is no tip."""
    least: dict[bytes, bytes] = {}
    points: set[bytes] = set()
    for header in ordered:
        place = None if header.prev is None else places.get(header.prev)
        if header.prev is None or place is None or ordered[place].seq + 1 != header.seq:
            continue
        other = least.setdefault(header.prev, header.record_id)
        if other != header.record_id:
            points.add(header.prev)
            least[header.prev] = min(other, header.record_id)
    return {point: least[point] for point in points}, least


def _parents_first(header: Header) -> tuple[int, int, bytes]:
    return header.lamport, header.seq, header.record_id


def _users(header: Header, places: Mapping[bytes, int]) -> Iterator[int]:
    """Yield the entries whose pasts that of an entry, or the facts of a screw, are made of."""
    named = [*header.deps] if header.prev is None else [header.prev, *header.deps]
    if isinstance(header.statement, ScrewStatement):
        named += header.statement.from_heads
    return (places[each] for each in named if each in places)

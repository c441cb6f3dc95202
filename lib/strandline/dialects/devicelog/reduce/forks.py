"""Forks: logs with two entries at one place, and the messages that the policy `freeze` leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership import Membership

_FIRST_OF_FEED: Final = 1
"""The `sequence` of the first message of a Scuttlebutt feed."""


@dataclass(frozen=True, slots=True)
class Fork:
    """Entries of one log at one seq that contradict each other: their indices, ascending by id; two at least."""

    log: bytes
    seq: int
    members: tuple[int, ...]


def first_entries(graph: Graph, log: bytes) -> list[int]:
    """Return the first entries of a log: more than one is a fork. An entry after a gap is no first entry."""
    return [
        index
        for branch in graph.logs.get(log, ())
        if graph.branches[branch].parent == NONE and _starts(graph, index := graph.first(branch))
    ]


def _starts(graph: Graph, index: int) -> bool:
    header = graph.entries[index]
    return header.kind == "key" or header.seq == _FIRST_OF_FEED


def forked_logs(graph: Graph) -> set[bytes]:
    """Return the logs with a fork point, two first entries or (weak feeds) two entries at one seq."""
    return {fork.log for fork in forks(graph)}


def forks(graph: Graph) -> list[Fork]:
    """Return the forks, ascending by log and seq.

    Members are the children of fork points at one seq, or the first entries if there are two; in a weak feed all
    entries at one seq.
    """
    at: dict[tuple[bytes, int], set[int]] = {}
    for point in graph.forks:
        header = graph.entries[point]
        at.setdefault((header.log, header.seq + 1), set()).update(graph.children(point))
    for log in graph.logs:
        starts = first_entries(graph, log)
        if len(starts) > 1:
            at.setdefault((log, graph.entries[starts[0]].seq), set()).update(starts)
        if graph.gaps.get(log):
            _add_equal_seqs(graph, log, at)
    return [
        Fork(log, seq, tuple(sorted(members, key=lambda index: graph.entries[index].record_id)))
        for (log, seq), members in sorted(at.items())
    ]


def _add_equal_seqs(graph: Graph, log: bytes, at: dict[tuple[bytes, int], set[int]]) -> None:
    by_seq: dict[int, set[int]] = {}
    for branch in graph.logs[log]:
        for index in graph.branches[branch].entries:
            by_seq.setdefault(graph.entries[index].seq, set()).add(index)
    for seq, members in by_seq.items():
        if len(members) > 1:
            at.setdefault((log, seq), set()).update(members)


def disputed_above(graph: Graph, membership: Membership) -> dict[bytes, int]:
    """Return, for the policy `freeze`, the seq by log above which its messages are out of the view.

    It is that of the earliest fork point with two effective children; NONE - all - if two first entries are effective.
    """
    found: dict[bytes, int] = {}
    for point in graph.forks:
        if _are_two_effective(graph, membership, graph.children(point)):
            header = graph.entries[point]
            found[header.log] = min(found.get(header.log, header.seq), header.seq)
    for log in graph.logs:
        if _are_two_effective(graph, membership, first_entries(graph, log)):
            found[log] = NONE
    return found


def _are_two_effective(graph: Graph, membership: Membership, indices: Iterable[int]) -> bool:
    return sum(membership.is_effective(graph, index) for index in indices) > 1

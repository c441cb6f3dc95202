"""The membership of a group: ranks of logs, verdicts on removals, and the effective entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.types import MAX_NUMBER

Rank: TypeAlias = tuple[int, int, bytes, int]
"""Place of a grant: lamport, utc, id, index of the log in it. The least of a log's effective grants is its rank."""

Status: TypeAlias = Literal["active", "removed", "void", "pending", "withdrawn"]
EntryStatus: TypeAlias = Literal["effective", "removed", "void"]

FOUNDER: Final[Rank] = (-2, 0, b"", 0)
LAST: Final[Rank] = (MAX_NUMBER + 1, 0, b"", 0)
"""The rank of a log without an effective grant."""

EFFECTIVE: Final = "effective"


@dataclass(frozen=True, slots=True)
class Cut:
    """The end of a log, and the deciding remove-log, by index; `last` is None if no entry of the log is effective."""

    last: int | None
    seq: int
    removal: int


@dataclass(slots=True)
class Membership:
    """The verdicts of a set of entries; everything by log, by branch number, or by index of an entry.

    `roots` are the branches in which logs start with a granted key entry. `chains` are the bounds by branch within
    which the entries of a cut log are effective. So a branch that starts later is placed without a new resolution.
    `grants` are the effective grants of each log, ascending.
    """

    ranks: dict[bytes, Rank] = field(default_factory=dict)
    roots: set[int] = field(default_factory=set)
    chains: dict[bytes, Mapping[int, int]] = field(default_factory=dict)
    cuts: dict[bytes, Cut] = field(default_factory=dict)
    verdicts: dict[int, str] = field(default_factory=dict)
    grants: dict[bytes, list[tuple[Rank, int]]] = field(default_factory=dict)
    statuses: dict[bytes, Status] = field(default_factory=dict)

    @property
    def values(self) -> int:
        """The number of stored values of logs that have entries."""
        return len(self.ranks) + sum(map(len, self.chains.values()))

    def kept(self, graph: Graph, branch: int) -> int:
        """Return the greatest effective seq of a branch, or NONE; MAX_NUMBER if it is not cut."""
        found = graph.branches[branch]
        if found.root not in self.roots:
            return NONE
        chain = self.chains.get(found.log)
        return MAX_NUMBER if chain is None else chain.get(branch, NONE)

    def is_effective(self, graph: Graph, index: int) -> bool:
        """Return whether an entry is effective."""
        return graph.entries[index].seq <= self.kept(graph, graph.branch[index])

    def entry_status(self, graph: Graph, index: int) -> EntryStatus:
        """Return `effective`, `removed`, or `void`: its log starts without an effective grant."""
        if self.is_effective(graph, index):
            return "effective"
        return "removed" if graph.branches[graph.branch[index]].root in self.roots else "void"

    def within(self, graph: Graph, bounds: Iterable[tuple[int, int]]) -> dict[int, int]:
        """Return the greatest effective seq by branch of the entries within bounds, given by branch and seq."""
        return effective_within(lambda branch: self.kept(graph, branch), bounds)


def effective_within(kept: Callable[[int], int], bounds: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the greatest effective seq by branch of the entries within bounds; `kept` gives that of a whole branch."""
    found = {branch: min(seq, kept(branch)) for branch, seq in bounds}
    return {branch: seq for branch, seq in found.items() if seq != NONE}

"""What is decided about the logs of a group: ranks, verdicts of removals, which entries are effective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

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
    """Where a log ends, and the deciding remove-log, by index; `last` is None if none of its entries stays."""

    last: int | None
    seq: int
    removal: int


@dataclass(slots=True)
class Membership:
    """The verdicts of a set of entries; everything by log, by branch number, or by index of an entry.

    `kept` is the greatest effective seq by branch, `begun` the branches whose chain starts with a granted key entry.
    `grants` are the effective grants of each log, ascending. `withdrawn` is, for a log without entries, the least rank
    of those who remove it: grants behind it are withdrawn.
    """

    ranks: dict[bytes, Rank] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    cuts: dict[bytes, Cut] = field(default_factory=dict)
    verdicts: dict[int, str] = field(default_factory=dict)
    grants: dict[bytes, list[tuple[Rank, int]]] = field(default_factory=dict)
    withdrawn: dict[bytes, Rank] = field(default_factory=dict)
    statuses: dict[bytes, Status] = field(default_factory=dict)

    def is_effective(self, graph: Graph, index: int) -> bool:
        """Return whether an entry is effective."""
        return graph.holds(self.kept, index)

    def entry_status(self, graph: Graph, index: int) -> EntryStatus:
        """Return `effective`, `removed`, or `void`: its log starts without an effective grant."""
        if graph.holds(self.kept, index):
            return "effective"
        return "removed" if graph.branch[index] in self.begun else "void"

    def within(self, bounds: Mapping[int, int]) -> dict[int, int]:
        """Return the greatest effective seq by branch of the entries within bounds."""
        return {branch: min(bounds[branch], self.kept[branch]) for branch in bounds if branch in self.kept}

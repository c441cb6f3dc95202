"""The stored state of a group without forks, and the stored entries that an increment needs.

All maps are by log, since without forks a log is one branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strandline.dialects.devicelog.reduce.branches import NONE, Key
from strandline.dialects.devicelog.types import Header

Bounds = dict[bytes, int]
"""Greatest seq by log."""


@dataclass(frozen=True, slots=True)
class Tip:
    """The tip of a log: its past, how many rows of the view it has not seen, and the last screw's rewind or None.

    `kept` is the greatest effective seq of the log, NONE if it is void. `is_new`: it is one of the new entries.
    """

    record_id: bytes
    seq: int
    lamport: int
    past: Bounds
    behind: int
    is_active: bool
    is_waited: bool
    kept: int
    rewind: int | None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a view: its rows from position `start` on, and v_start to v_n."""

    start: int
    keys: Sequence[Key]
    places: Sequence[tuple[bytes, int]]
    hashes: Sequence[bytes]

    @property
    def length(self) -> int:
        """The number of rows of the whole view."""
        return self.start + len(self.keys)


def needed_above(tips: Mapping[bytes, Tip], new: Iterable[Header]) -> Bounds:
    """Return, by log, the seq above which stored entries are needed.

    Entries below are in the past of every tip that grows. The tips themselves are needed.
    """
    growing = {header.log for header in new} & tips.keys()
    return {
        log: min([tip.seq - (log in growing), *(tips[each].past.get(log, NONE) for each in growing)])
        for log, tip in tips.items()
    }


def removals_of(held: Iterable[Header]) -> list[Header]:
    """Return the remove-log entries among entries."""
    return [header for header in held if header.kind == "remove-log"]


def knows_all(removals: Iterable[Header], past: Bounds) -> bool:
    """Return whether a past holds all remove-log entries; `removals` are those that can be outside of it.

    Then the effective entries of the past are the same, whether judged by the past or by all entries: ranks come from
    grants, which are in the past, and an admission or a start outside of it decides nothing about entries inside.
    """
    return all(header.seq <= past.get(header.log, NONE) for header in removals)


def effective(tips: Mapping[bytes, Tip], past: Bounds) -> Bounds:
    """Return the effective bounds of a past that holds all remove-log entries."""
    return {log: min(seq, tips[log].kept) for log, seq in past.items() if tips[log].kept != NONE}


def join(past: Bounds, other: Bounds) -> None:
    """Add another past to a past."""
    for log, seq in other.items():
        if seq > past.get(log, NONE):
            past[log] = seq

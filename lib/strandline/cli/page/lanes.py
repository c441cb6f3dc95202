"""Lanes for a drawing of records: who follows whom, from the newest record down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

STEP: Final = 16
"""Distance of two lanes in CSS pixels."""
ROW: Final = 30
"""Height of a record in CSS pixels."""
MOST_LANES: Final = 12
_COLOURS: Final = 5


@dataclass(frozen=True, slots=True)
class Dot:
    """One record: its row from the top, its lane from the left, its values; `skipped` positions lie above it."""

    row: int
    lane: int
    node: Mapping[str, Any]
    is_fork: bool
    skipped: int

    @property
    def x(self) -> int:
        """The middle in pixels from the left."""
        return STEP * self.lane + STEP

    @property
    def y(self) -> int:
        """The middle in pixels from the top."""
        return ROW * self.row + ROW // 2

    @property
    def colour(self) -> int:
        """The number of the lane's colour."""
        return self.lane % _COLOURS


@dataclass(frozen=True, slots=True)
class Graph:
    """Dots from the newest, lines as SVG paths with the number of their colour, and the size in pixels."""

    dots: tuple[Dot, ...]
    lines: tuple[tuple[str, int], ...]
    width: int
    height: int


def graph(nodes: Sequence[Mapping[str, Any]], *, forks: bool) -> Graph:
    """Return the drawing of `nodes`, which ascend by place.

    A record continues the lane of its first parent if no other record does, else it opens the lowest free lane; lanes
    beyond MOST_LANES share the last. With `forks`, records that share a parent are marked.
    """
    children: dict[str, int] = {}
    for node in nodes:
        for parent in dict.fromkeys(node["parents"]):
            children[parent] = children.get(parent, 0) + 1
    open_children = dict(children)
    at: dict[str, Dot] = {}
    ends: dict[int, str] = {}
    for index, node in enumerate(nodes):
        parents = list(dict.fromkeys(node["parents"]))
        lane = next(
            (at[each].lane for each in parents if each in at and ends.get(at[each].lane) == each), None
        )
        for parent in parents:
            open_children[parent] -= 1
        if lane is None:
            # The line to the oldest parent passes no other record.
            oldest = max((at[each].row for each in parents if each in at), default=-1)
            taken = {
                number
                for number, end in ends.items()
                if open_children.get(end, 0) > 0 or at[end].row < oldest
            }
            lane = next(number for number in range(len(nodes) + 1) if number not in taken)
        lane = min(lane, MOST_LANES - 1)
        ends[lane] = node["id"]
        after = nodes[index + 1]["place"] if index + 1 < len(nodes) else node["place"]
        is_fork = forks and any(children[parent] > 1 for parent in parents)
        at[node["id"]] = Dot(len(nodes) - 1 - index, lane, node, is_fork, max(0, after - node["place"] - 1))
    lines = tuple(
        (_line(dot, at[parent]), max(dot.lane, at[parent].lane) % _COLOURS)
        for dot in at.values()
        for parent in dict.fromkeys(dot.node["parents"])
        if parent in at
    )
    width = STEP * (2 + max((dot.lane for dot in at.values()), default=0))
    return Graph(tuple(reversed(at.values())), lines, width, ROW * len(nodes))


def _line(child: Dot, parent: Dot) -> str:
    """Return the SVG path from a record down to one that it follows: along the child's lane, then across."""
    if child.lane == parent.lane:
        return f"M{child.x} {child.y}V{parent.y}"
    bend = parent.y - ROW
    return f"M{child.x} {child.y}V{max(bend, child.y)}C{child.x} {parent.y} {parent.x} {bend} {parent.x} {parent.y}"

"""What one device showed, with the rows that its screws took back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from strandline.dialects.devicelog.reduce.branches import Key
from strandline.dialects.devicelog.reduce.forks import forked_logs
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership import Memberships
from strandline.dialects.devicelog.reduce.screws import TRUE, Screw, judged_screws, statement_of
from strandline.dialects.devicelog.reduce.view import View, empty_view_hash
from strandline.dialects.devicelog.reduce.view_hashes import ViewHashes
from strandline.dialects.devicelog.reduce.whole import Whole, whole_of
from strandline.dialects.devicelog.types import Header


@dataclass(frozen=True, slots=True)
class Row:
    """One line of what a device showed: a message at a position, or a screw (position None).

    `i` counts the screws before. `shown_clock` is the replay clock of a message that a screw replayed, else the
    Lamport clock. `struck`: a later screw rewound the view to this position or before it.
    """

    i: int
    record_id: bytes
    position: int | None
    previous: bytes | None
    replay_clock: int | None
    shown_clock: int
    struck: bool


def history(log: bytes, entries: Iterable[Header]) -> list[Row]:
    """Return the rows that the device of a log showed, in order; none if the log is forked, or has no entry.

    Only true screws count. Row s_i, then the messages from its rewind on: those below the length that it states have
    its replay clocks.
    """
    whole = whole_of(entries)
    graph = whole.graph
    tips = graph.tips(log)
    if len(tips) != 1 or log in forked_logs(graph):
        return []
    memberships = Memberships(graph)
    group = graph.entries[0].group
    own = tuple(facts for facts in whole.screws if graph.entries[facts.index].log == log)
    judged = judged_screws(Whole(graph, own), memberships, ViewHashes(graph.branches, empty_view_hash(group)))
    screws = [screw for screw in judged if screw.verdict == TRUE]
    past = dict(graph.past(tips[0]).items())
    bounds = [screw.before or {} for screw in screws] + [memberships.within(past)]
    view = View(graph.branches, empty_view_hash(group))
    rows: list[Row] = []
    kept_by_later = _least_rewinds(graph, screws)
    for i, each in enumerate(bounds):
        view.move(each)
        rows += _episode(graph, i, screws, view.keys, kept_by_later[i])
    return rows


def _least_rewinds(graph: Graph, screws: list[Screw]) -> list[int | None]:
    """Return, for each i, the least position to which a later screw rewinds."""
    least: list[int | None] = [None]
    for screw in reversed(screws):
        rewind = statement_of(graph.entries[screw.index]).rewind
        least.append(rewind if least[-1] is None else min(rewind, least[-1]))
    return least[::-1]


def _episode(
    graph: Graph, i: int, screws: list[Screw], view: Sequence[Key], struck_from: int | None
) -> Iterator[Row]:
    rewind, replayed, clock = 0, 0, 0
    if i:
        header = graph.entries[screws[i - 1].index]
        statement = statement_of(header)
        rewind, replayed, clock = statement.rewind, statement.n_after, header.lamport
        yield Row(i, header.record_id, None, header.prev, None, clock, struck=False)
    for position in range(rewind, len(view)):
        record_id = view[position][2]
        replay = clock + 1 + position - rewind if position < replayed else None
        yield Row(
            i, record_id, position, view[position - 1][2] if position else None, replay,
            graph.entries[graph.index[record_id]].lamport if replay is None else replay,
            struck=struck_from is not None and position >= struck_from,
        )  # fmt: skip

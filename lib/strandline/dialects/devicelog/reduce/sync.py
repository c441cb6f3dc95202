"""The common prefix of two views, and the entries that each of two replicas lacks.

"v_k is equal on both sides" is monotone in k, so positions of views can be bisected. The point is not the way to find
missing entries: one late old message moves it to the start. For that, tips of logs are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Protocol, TypeAlias

from strandline.dialects.devicelog.codec.scalars import parse_hex
from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.whole import whole_of
from strandline.dialects.devicelog.types import MAX_NUMBER, Header

MAX_POINTS: Final = 64
_ALL_POINTS: Final = 32
_PARTS: Final = 8


@dataclass(frozen=True, slots=True)
class Probe:
    """A question for the common prefix: it has at least `lo` rows and less than `hi`; points are (k, v_k), ascending.

    `n` is the length of the view of the side that asks.
    """

    n: int
    lo: int
    hi: int
    points: tuple[tuple[int, bytes], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the message as a JSON value."""
        points = [[k, v.hex()] for k, v in self.points]
        return {"t": "probe", "n": self.n, "lo": self.lo, "hi": self.hi, "points": points}


@dataclass(frozen=True, slots=True)
class Found:
    """The answer: both views have exactly the first `k` rows in common."""

    k: int

    def to_json(self) -> dict[str, Any]:
        """Return the message as a JSON value."""
        return {"t": "found", "k": self.k}


Message: TypeAlias = Probe | Found


def parse_message(value: object) -> Message | None:
    """Return the message of a JSON value, or None if it has another form."""
    if not isinstance(value, Mapping):
        return None
    if value.keys() == {"t", "k"} and value["t"] == "found":
        return Found(value["k"]) if _is_number(value["k"]) else None
    if value.keys() != {"t", "n", "lo", "hi", "points"} or value["t"] != "probe":
        return None
    points = _points(value["points"])
    if points is None or not all(_is_number(value[name]) for name in ("n", "lo", "hi")):
        return None
    return Probe(value["n"], value["lo"], value["hi"], points)


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_NUMBER


def _points(value: object) -> tuple[tuple[int, bytes], ...] | None:
    if not isinstance(value, list) or len(value) > MAX_POINTS:
        return None
    points: list[tuple[int, bytes]] = []
    for each in value:
        if not isinstance(each, list) or len(each) != 2 or not _is_number(each[0]):
            return None
        v = parse_hex(each[1])
        if v is None:
            return None
        points.append((each[0], v))
    return tuple(points)


class PrefixHashes(Protocol):
    """v_0 to v_n of a view in another place, such as a table."""

    @property
    def length(self) -> int:
        """The number of messages, n."""

    def at(self, ks: AbstractSet[int]) -> Mapping[int, bytes]:
        """Return v_k of each k, which is from 0 to n."""


@dataclass(frozen=True, slots=True)
class _Held:
    """The hashes of a view in memory."""

    hashes: Sequence[bytes]

    @property
    def length(self) -> int:
        return len(self.hashes) - 1

    def at(self, ks: AbstractSet[int]) -> Mapping[int, bytes]:
        return {k: self.hashes[k] for k in ks}


class Peer:
    """One side of the search for the common point of two views, each given as v_0 to v_n or as a way to look these up.

    A message takes two look-ups of at most 64 hashes: of the points in it, and of those in the answer.
    """

    def __init__(self, prefix_hashes: Sequence[bytes] | PrefixHashes) -> None:
        self._hashes = _Held(prefix_hashes) if isinstance(prefix_hashes, Sequence) else prefix_hashes
        self._n = self._hashes.length

    def open(self) -> Probe:
        """Return the first message: points that get closer together towards the end of the view."""
        halves = (self._n >> i for i in range(1, self._n.bit_length() + 1))
        return self._probe(0, self._n + 1, {self._n, *(self._n - half for half in halves)} - {0})

    def answer(self, message: Probe) -> Message:
        """Return the answer to a probe: the point, or a narrower probe."""
        low, high = message.lo, min(message.hi, self._n + 1)
        held = self._hashes.at({k for k, _ in message.points if k <= self._n})
        for k, v in message.points:
            if held.get(k) == v:
                low = max(low, k)
            else:
                high = min(high, k)
        if high - low <= 1:
            return Found(max(0, min(low, high - 1)))
        if high - low - 1 <= _ALL_POINTS:
            return self._probe(low, high, range(low + 1, high))
        return self._probe(low, high, (low + (high - low) * part // _PARTS for part in range(1, _PARTS)))

    def _probe(self, low: int, high: int, ks: Iterable[int]) -> Probe:
        return Probe(self._n, low, high, tuple(sorted(self._hashes.at(set(ks)).items())))


def sync_point(
    mine: Sequence[bytes] | PrefixHashes, theirs: Sequence[bytes] | PrefixHashes
) -> tuple[int, int]:
    """Return the length of the longest common prefix of two views v_0 to v_n, and the number of messages that find it.

    >>> sync_point([b"0", b"a", b"b", b"c"], [b"0", b"a", b"x"])
    (1, 3)
    """
    sides = (Peer(mine), Peer(theirs))
    message: Message = sides[0].open()
    count = 1
    while isinstance(message, Probe):
        message = sides[count % 2].answer(message)
        count += 1
    return message.k, count


def common_length(mine: Sequence[bytes], theirs: Sequence[bytes]) -> int:
    """Return the length of the longest common prefix of two views v_0 to v_n in memory."""
    low, high = 0, min(len(mine), len(theirs))
    while high - low > 1:
        middle = (low + high) // 2
        if mine[middle] == theirs[middle]:
            low = middle
        else:
            high = middle
    return low


def missing(mine: Iterable[Header], theirs: Iterable[Header]) -> tuple[set[bytes], set[bytes]]:
    """Return the ids to send and the ids to get, as two replicas find them by the tips of their logs.

    Both sets are closed under references. Without forks these are exactly the missing entries; with forks they may hold
    more, never less.
    """
    here, there = whole_of(mine).graph, whole_of(theirs).graph
    send: set[bytes] = set()
    get: set[bytes] = set()
    for log in here.logs.keys() | there.logs.keys():
        to_send, to_get = _of_log(log, here, there)
        send |= to_send
        get |= to_get
    return send, get


def _of_log(log: bytes, here: Graph, there: Graph) -> tuple[set[bytes], set[bytes]]:
    tips_here = [here.entries[each].record_id for each in here.tips(log)]
    tips_there = [there.entries[each].record_id for each in there.tips(log)]
    known_here = [each for each in tips_there if each in here.index]
    known_there = [each for each in tips_here if each in there.index]
    if len(known_there) == len(tips_here):
        return set(), _outside(log, there, known_there)
    if len(known_here) == len(tips_there):
        return _outside(log, here, known_here), set()
    if len(tips_here) == len(tips_there) == 1:
        ours, others = _chain(here, tips_here[0]), _chain(there, tips_there[0])
        common = _common(ours, others)
        return set(ours[common:]), set(others[common:])
    return _outside(log, here, known_here), _outside(log, there, known_there)


def _outside(log: bytes, graph: Graph, known: Iterable[bytes]) -> set[bytes]:
    """Return the entries of a log outside the chains of known ones."""
    bounds = graph.chains(graph.index[record_id] for record_id in known)
    return {
        graph.entries[index].record_id
        for number in graph.logs.get(log, ())
        for index in graph.branches[number].entries
        if graph.entries[index].seq > bounds.get(number, NONE)
    }


def _chain(graph: Graph, tip: bytes) -> list[bytes]:
    """Return an entry and all before it in its log, ascending."""
    held = [
        graph.entries[index]
        for number, bound in graph.chain(graph.index[tip]).items()
        for index in graph.branches[number].entries
        if graph.entries[index].seq <= bound
    ]
    return [each.record_id for each in sorted(held, key=attrgetter("seq"))]


def _common(ours: Sequence[bytes], others: Sequence[bytes]) -> int:
    """Return the number of first entries that two chains have in common, by bisection over seq."""
    low, high = 0, min(len(ours), len(others)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if ours[middle - 1] == others[middle - 1]:
            low = middle
        else:
            high = middle
    return low

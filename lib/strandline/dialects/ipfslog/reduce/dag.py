"""A log as a DAG: heads, tails, missing entries, and the order of its entries."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

from strandline.core.encoding.js_json import utf16
from strandline.dialects.ipfslog.types import Entry, Variant

Mode: TypeAlias = Literal["sort", "walk"]
OrderKey: TypeAlias = tuple[int, bytes, str]


@dataclass(frozen=True, slots=True)
class Node:
    """The parts of an entry that determine the DAG and its order.

    `variant` is None for a skeleton, which remains of a pruned entry.
    """

    record_id: bytes
    clock_time: int
    clock_id: str
    next: tuple[bytes, ...]
    cid: str
    variant: Variant | None

    @property
    def is_skeleton(self) -> bool:
        """True if the entry was pruned."""
        return self.variant is None


Walkable: TypeAlias = Node | Entry
Item = TypeVar("Item")


def node_of(entry: Entry) -> Node:
    """Return the node of an entry."""
    return Node(entry.record_id, entry.clock_time, entry.clock_id, entry.next, entry.cid, entry.variant)


def order_key(node: Walkable) -> OrderKey:
    """Return k, a total order: time, clock id by UTF-16 code units, canonical content address."""
    return node.clock_time, utf16(node.clock_id), node.cid


class Dag:
    """The DAG of a set of nodes of one log. Every part is a function of the set; links out of the set are missing."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: Mapping[bytes, Node] = {node.record_id: node for node in nodes}

    @cached_property
    def by_key(self) -> tuple[bytes, ...]:
        """All ids, ascending by k."""
        keyed = sorted((order_key(node), node.record_id) for node in self.nodes.values())
        return tuple(record_id for _, record_id in keyed)

    @cached_property
    def rank(self) -> Mapping[bytes, int]:
        """The place of each id in `by_key`, from 0."""
        return {record_id: place for place, record_id in enumerate(self.by_key)}

    @cached_property
    def _named(self) -> frozenset[bytes]:
        return frozenset(parent for node in self.nodes.values() for parent in node.next)

    @cached_property
    def heads(self) -> tuple[bytes, ...]:
        """Ids that no node names in `next`, greatest k first."""
        return tuple(record_id for record_id in reversed(self.by_key) if record_id not in self._named)

    @cached_property
    def missing(self) -> tuple[bytes, ...]:
        """Digests in `next` that are not in the set, sorted: load these to read further back."""
        return tuple(sorted(self._named - self.nodes.keys()))

    @cached_property
    def tails(self) -> tuple[bytes, ...]:
        """Ids of roots and of nodes with a missing parent, ascending by k."""
        return tuple(
            record_id
            for record_id in self.by_key
            if not self.nodes[record_id].next or self.missing_of(record_id)
        )

    def missing_of(self, record_id: bytes) -> tuple[bytes, ...]:
        """Return the missing parents of a node, ascending."""
        # A difference of sets would iterate over all nodes.
        return tuple(sorted({parent for parent in self.nodes[record_id].next if parent not in self.nodes}))

    @cached_property
    def is_core(self) -> bool:
        """True if all entries are core2; skeletons do not count, since they do not have a variant."""
        variants = {node.variant for node in self.nodes.values()} - {None}
        return variants == {"core2"}

    def inverted(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the edges (child, parent) in which the parent is not before the child by k."""
        rank = self.rank
        for node in self.nodes.values():
            for parent in dict.fromkeys(node.next):
                if rank.get(parent, -1) >= rank[node.record_id]:
                    yield node.record_id, parent

    @cached_property
    def mode(self) -> Mode:
        """`walk` if an edge is inverted, but always `sort` with pruned entries, since a walk could reorder these."""
        if any(node.is_skeleton for node in self.nodes.values()):
            return "sort"
        return "walk" if next(self.inverted(), None) else "sort"

    @cached_property
    def values(self) -> tuple[bytes, ...]:
        """All ids, oldest first: by k, or in mode `walk` the reverse of the walk from the heads."""
        if self.mode == "sort":
            return self.by_key
        return tuple(reversed(self.walk(self.heads)))

    @cached_property
    def position(self) -> Mapping[bytes, int]:
        """The place of each id in `values`, from 1."""
        return {record_id: place for place, record_id in enumerate(self.values, start=1)}

    def walk(
        self, roots: Iterable[bytes], amount: int | None = None, end: bytes | None = None
    ) -> list[bytes]:
        """Return up to `amount` ids reachable from `roots`, newest first, as the function `walk`."""
        rank, by_key = self.rank, self.by_key
        return walk(
            self.nodes,
            roots,
            lambda record_id: -rank[record_id],
            lambda item: by_key[-item],
            looks_further=self.is_core,
            amount=amount,
            end=end,
        )

    def reachable(self, roots: Iterable[bytes]) -> set[bytes]:
        """Return all ids reachable from `roots` through `next`, including `roots`."""
        found = set(roots)
        waiting = list(found)
        while waiting:
            for parent in self.nodes[waiting.pop()].next:
                if parent in self.nodes and parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found

    def tied(self) -> frozenset[bytes]:
        """Return the ids of nodes that share time and clock id with another node."""
        by_clock: dict[tuple[int, str], list[bytes]] = {}
        for node in self.nodes.values():
            by_clock.setdefault((node.clock_time, node.clock_id), []).append(node.record_id)
        return frozenset(
            record_id for members in by_clock.values() if len(members) > 1 for record_id in members
        )

    def is_clock_ok(self, record_id: bytes) -> bool:
        """Return whether the time of a node is greater than that of each of its parents in the set."""
        node = self.nodes[record_id]
        parents = (self.nodes.get(parent) for parent in node.next)
        return all(parent is None or parent.clock_time < node.clock_time for parent in parents)


class Newest:
    """A heap item that sorts nodes of greater k first."""

    __slots__ = ("key", "record_id")

    def __init__(self, node: Walkable) -> None:
        self.key = order_key(node)
        self.record_id = node.record_id

    def __lt__(self, other: "Newest") -> bool:
        return self.key > other.key


def walk(
    nodes: Mapping[bytes, Walkable],
    roots: Iterable[bytes],
    item_of: Callable[[bytes], Item],
    id_of: Callable[[Item], bytes],
    *,
    looks_further: bool,
    amount: int | None,
    end: bytes | None = None,
) -> list[bytes]:
    """Return up to `amount` ids reachable from `roots`, newest first; stops after `end`.

    Each step takes the node with the greatest k of those found and adds its parents. With `looks_further`, as in the
    library of core2, it also adds the parents of the nodes that the step before added. `item_of` gives the heap item
    of an id, least for the greatest k; `id_of` gives the id back. Work: O((nodes + edges) log nodes), no recursion.
    """
    heap: list[Any] = [item_of(root) for root in roots]
    heapq.heapify(heap)
    seen: set[bytes] = set()
    taken: set[bytes] = set()
    level: list[bytes] = []
    out: list[bytes] = []
    while heap and (amount is None or len(out) < amount):
        record_id = id_of(heapq.heappop(heap))
        if record_id in taken:
            continue
        taken.add(record_id)
        seen.add(record_id)
        out.append(record_id)
        if record_id == end:
            break
        parents = list(nodes[record_id].next)
        if looks_further:
            parents += [parent for before in level for parent in nodes[before].next]
        level = [parent for parent in dict.fromkeys(parents) if parent in nodes and parent not in seen]
        seen.update(level)
        for parent in level:
            heapq.heappush(heap, item_of(parent))
    return out

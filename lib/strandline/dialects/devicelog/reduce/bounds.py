"""Bounds: a greatest seq by branch, as a tree that never changes. Trees that are made of others share their parts.

So the memory of a past is that of the parts in which it differs from the pasts it is made of, not its whole size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, TypeAlias

from strandline.dialects.devicelog.reduce.branches import NONE

_BITS: Final = 5
_WIDTH: Final = 1 << _BITS

_MOST_PARTS: Final = 2**16
"""Parts of trees whose sums are kept, a past more: at most 20 MiB."""

_Node: TypeAlias = tuple[Any, ...]
"""At height 0 the seqs of up to 32 branches, NONE where there is none; above that up to 32 nodes. Ends are left out."""


Joins: TypeAlias = dict[tuple[int, int], tuple[_Node, _Node, _Node]]
"""What two parts give together, by their identities: many pasts join the same two parts. Both parts are kept, so that
no other part gets their identities."""

MOST_JOINS: Final = 2**14
"""Joins that are kept, those of a past more: at most 20 MiB."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A greatest seq by branch number."""

    root: _Node = ()
    height: int = 0

    def get(self, branch: int) -> int:
        """Return the greatest seq of a branch, or NONE."""
        node, shift = self.root, self.height * _BITS
        place = branch >> shift
        while place < len(node):
            if not shift:
                seq: int = node[place]
                return seq
            node, shift = node[place], shift - _BITS
            place = branch >> shift & _WIDTH - 1
        return NONE

    def joined(self, other: Bounds, known: Joins | None = None) -> Bounds:
        """Return the greater seq of each branch; `known` has what parts gave that were joined before, and gets more."""
        height = max(self.height, other.height)
        own = _raised(self, height)
        root = _joined(own, _raised(other, height), height, {} if known is None else known)
        return self if root is own else Bounds(root, height)

    def met(self, other: Bounds) -> Bounds:
        """Return the least seq of each branch that both have. What is equal is taken from `other`."""
        height = max(self.height, other.height)
        node = _raised(other, height)
        root = _met(_raised(self, height), node, height)
        return other if root is node else Bounds(root, height)

    def having(self, branch: int, seq: int) -> Bounds:
        """Return these bounds, and entries of a branch up to `seq`."""
        height = 0
        node: _Node = (*repeat(NONE, branch % _WIDTH), seq)
        while branch := branch >> _BITS:
            height, node = height + 1, (*repeat((), branch % _WIDTH), node)
        return self.joined(Bounds(node, height))

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield each branch with its seq, ascending."""
        return _items(self.root, self.height, 0)


def _raised(bounds: Bounds, height: int) -> _Node:
    root = bounds.root
    for _ in range(height - bounds.height):
        root = (root,)
    return root


def _joined(one: _Node, other: _Node, height: int, known: Joins) -> _Node:
    """Return the union; if one of the two contains the other, return it without a copy."""
    if one is other or not other:
        return one
    if not one:
        return other
    before = known.get((id(one), id(other)))
    if before is not None:
        return before[2]
    if height:
        parts = tuple([_joined(a, b, height - 1, known) for a, b in zip(one, other, strict=False)])
    else:
        parts = tuple([max(b, a) for a, b in zip(one, other, strict=False)])
    found = (*parts, *one[len(parts) :], *other[len(parts) :])
    found = one if found == one else other if found == other else found
    known[id(one), id(other)] = one, other, found
    return found


def _met(one: _Node, other: _Node, height: int) -> _Node:
    """Return the intersection; return `other` itself if it is that, so that shared parts stay shared."""
    if one is other or not one:
        return one
    both = zip(one, other, strict=False)
    parts = tuple([_met(a, b, height - 1) if height else min(a, b) for a, b in both])
    return other if parts == other else parts


def _items(node: _Node, height: int, first: int) -> Iterator[tuple[int, int]]:
    for place, each in enumerate(node, first * _WIDTH):
        if height:
            yield from _items(each, height - 1, place)
        elif each != NONE:
            yield place, each


NOTHING_BEFORE: Final = Bounds()


@dataclass(frozen=True, slots=True)
class Past:
    """The past of an entry: bounds, and the entries of its own branch up to it, whatever bound that branch has."""

    base: Bounds
    branch: int
    seq: int

    @property
    def bounds(self) -> Bounds:
        """The past as bounds."""
        return self.base.having(self.branch, self.seq)

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield each branch with its greatest seq."""
        yield from (each for each in self.base.items() if each[0] != self.branch)
        yield self.branch, self.seq


class Sums:
    """Sums of a number over the branches of pasts: `of` gives it by branch and greatest seq, at least 0.

    A part that trees share is added once, so the sum of a past costs the parts in which it differs from earlier ones.
    """

    def __init__(self, of: Callable[[int, int], int]) -> None:
        self._of = of
        # Keyed by the identity of a node, which has one place in all trees. The node is kept alive, so that no other
        # node gets its identity.
        self._known: dict[int, tuple[_Node, int]] = {}

    def __len__(self) -> int:
        """Return how many parts are known."""
        return len(self._known)

    def total(self, past: Past) -> int:
        """Return the sum over a past."""
        if len(self._known) > _MOST_PARTS:
            self._known.clear()
        base, inside = past.base, past.base.get(past.branch)
        total = self._sum(base.root, base.height, 0) + self._of(past.branch, past.seq)
        return total if inside == NONE else total - self._of(past.branch, inside)

    def items(self, past: Past) -> Iterator[tuple[int, int]]:
        """Yield the branches of a past whose number is not 0, with their greatest seqs. Other parts cost nothing."""
        for branch, seq in self._items(past.base.root, past.base.height, 0):
            if branch != past.branch:
                yield branch, seq
        if self._of(past.branch, past.seq):
            yield past.branch, past.seq

    def _sum(self, node: _Node, height: int, first: int) -> int:
        known = self._known.get(id(node))
        if known is not None:
            return known[1]
        places = enumerate(node, first * _WIDTH)
        if height:
            found = sum(self._sum(each, height - 1, place) for place, each in places)
        else:
            found = sum(self._of(branch, seq) for branch, seq in places if seq != NONE)
        self._known[id(node)] = node, found
        return found

    def _items(self, node: _Node, height: int, first: int) -> Iterator[tuple[int, int]]:
        if not self._sum(node, height, first):
            return
        for place, each in enumerate(node, first * _WIDTH):
            if height:
                yield from self._items(each, height - 1, place)
            elif each != NONE and self._of(place, each):
                yield place, each

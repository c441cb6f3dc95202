"""Grow-only sets, which merge by union."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class GSet(Generic[T]):
    """A set that only grows. Merging is associative, commutative and idempotent.

    >>> a, b = GSet([1, 2]), GSet([2, 3])
    >>> a.merge(b), sorted(a.values), a.length
    (1, [1, 2, 3], 3)
    """

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._values: dict[Hashable, T] = {}
        for value in values:
            self._add(value)

    def _key(self, value: T) -> Hashable:
        """Return the key that makes two values equal."""
        return value

    def _add(self, value: T) -> bool:
        key = self._key(value)
        if key in self._values:
            return False
        self._values[key] = value
        return True

    def append(self, value: T, /) -> T:
        """Add a value and return it."""
        self._add(value)
        return value

    def merge(self, other: GSet[T]) -> int:
        """Add all values of `other`; return how many were new."""
        return sum([self._add(value) for value in other])

    def get(self, value: T) -> T | None:
        """Return the stored value that is equal to `value`, or None."""
        return self._values.get(self._key(value))

    def has(self, value: T) -> bool:
        """Return whether the set has an equal value."""
        return self._key(value) in self._values

    @property
    def values(self) -> tuple[T, ...]:
        """All values."""
        return tuple(self._values.values())

    @property
    def length(self) -> int:
        """The number of values."""
        return len(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[T]:
        return iter(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GSet) and self._values.keys() == other._values.keys()

    __hash__ = None  # type: ignore[assignment]

"""What a group of figures is given, and where it puts what it measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.data import Data
from bench.engine import Engine
from bench.results import Case

Keep = Callable[[int, tuple[Case, ...], int, tuple[str, ...]], None]
"""Takes a figure's number, cases, repetitions and notes."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One pass over the figures `wanted`, on `data`.

    `repetitions` of figures on a million lines, `large_repetitions` of those on ten times as many.
    """

    engine: Engine
    data: Data
    wanted: frozenset[int]
    repetitions: int
    large_repetitions: int
    keep: Keep

    def wants(self, *numbers: int) -> bool:
        """Return whether any of the figures is asked for."""
        return bool(self.wanted.intersection(numbers))

"""What is said of a figure before it is measured: the work, what it is compared with, and the bar."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """The ratio promised: at most `most`, at least `least`; `aim` is what would be good. None: not set."""

    most: float | None = None
    least: float | None = None
    aim: float | None = None

    def is_met(self, ratio: float) -> bool:
        """Return whether a ratio keeps to the bar; the numbers themselves are compared, nothing is rounded."""
        return (self.most is None or ratio <= self.most) and (self.least is None or ratio >= self.least)

    @property
    def is_set(self) -> bool:
        """True if anything is promised."""
        return self.most is not None or self.least is not None


@dataclass(frozen=True, slots=True)
class Described:
    """One figure before it is measured: `work` is divided by `against`; `how` tells what exactly is timed."""

    slug: str
    work: str
    against: str
    bar: Bar
    how: str

"""How much data a run measures on, all of it from two numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

CHUNKS = 10
"""Parts of the largest input: each is `journals` journals."""

LARGEST = 50
"""Parts of the input of figure 36 alone."""

FEWEST = 20


@dataclass(frozen=True, slots=True)
class Sizes:
    """`journals` journals of `length` lines are one chunk of the input; at full size 1,000 of 1,000."""

    journals: int = 1000
    length: int = 1000

    @staticmethod
    def of(scale: float) -> Sizes:
        """Return sizes whose chunk has `scale` times a million lines, both numbers shrunk alike."""
        side = max(FEWEST, round(1000 * math.sqrt(scale)))
        return Sizes(side, side)

    @property
    def lines(self) -> int:
        """Lines of one chunk, and of the one long journal."""
        return self.journals * self.length

    @property
    def large_lines(self) -> int:
        """Lines of all chunks."""
        return self.lines * CHUNKS

    @property
    def touched(self) -> int:
        """Journals that news of 1 % touch: as many lines as they have come to them."""
        return max(1, self.journals * CHUNKS // 100)

    @property
    def news_lines(self) -> int:
        """Lines of news of 1 % of all chunks."""
        return self.touched * self.length

    def many(self, chunks: int = 1) -> str:
        """Name the input of so many chunks."""
        return f"{self.journals * chunks:,} journals of {self.length:,} lines"

    @property
    def one(self) -> str:
        """Name the input of the one long journal."""
        return f"1 journal of {self.lines:,} lines"


WARM = Sizes(100, 900)
"""Untimed runs of work on one chunk: large enough that the product lets Spark compile its plans (16 MiB)."""

WARM_LARGE = Sizes(50, 450)
"""Untimed runs of work on all chunks."""

"""What mutmut found of its mutants, and the sample that is judged."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mutants.tree import PARTS, part_of

SURVIVED = 0
UNTESTED = frozenset({5, 33})
"""mutmut's codes of a mutant that no test met."""
UNDECIDED = frozenset({2, 34})
"""Interrupted or left out."""


@dataclass(frozen=True, slots=True)
class Row:
    """The verdicts on mutants of one part; `made` counts all of them, the others those of the sample."""

    part: str
    made: int
    judged: int
    killed: int
    survived: int
    untested: int

    @property
    def surviving_share(self) -> float:
        """The share of judged mutants that no test saw, from 0 to 1."""
        return (self.survived + self.untested) / self.judged if self.judged else 0.0


def read_codes(tree: Path) -> dict[str, int | None]:
    """Return mutmut's code for every mutant; None: it was not judged."""
    codes: dict[str, int | None] = {}
    for path in sorted((tree / "mutants").rglob("*.meta")):
        codes |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return codes


def sample_of(mutants: Iterable[str], count: int, seed: int) -> list[str]:
    """Return `count` of the mutants, or all: the same for the same mutants and seed."""
    every = sorted(mutants)
    return random.Random(seed).sample(every, min(count, len(every)))


def rows_of(codes: Mapping[str, int | None], sample: Iterable[str]) -> list[Row]:
    """Return the verdicts on a sample, a row for each part and one for all."""
    made = Counter(map(part_of, codes))
    found: Counter[tuple[str, str]] = Counter()
    for mutant in sample:
        code = codes[mutant]
        if code is None or code in UNDECIDED:
            continue
        fate = "survived" if code == SURVIVED else "untested" if code in UNTESTED else "killed"
        found[part_of(mutant), fate] += 1
    rows = []
    for part in PARTS:
        fates = [found[part, fate] for fate in ("killed", "survived", "untested")]
        rows.append(Row(part, made[part], sum(fates), *fates))
    sums = (
        sum(getattr(row, name) for row in rows)
        for name in ("made", "judged", "killed", "survived", "untested")
    )
    return [*rows, Row("all", *sums)]


def lived(codes: Mapping[str, int | None], sample: Iterable[str]) -> list[str]:
    """Return the mutants of the sample that no test saw."""
    return sorted(each for each in sample if codes[each] == SURVIVED or codes[each] in UNTESTED)

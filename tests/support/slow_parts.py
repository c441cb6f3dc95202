"""The slow tier in parts that take about equally long, so that each commit runs one of them."""

import heapq
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

STORED = Path(__file__).parents[1] / "slow_seconds.json"
"""Seconds by test id: estimated until `pytest -m slow --keep-seconds` measures them."""
UNKNOWN_SECONDS = 120.0
"""What a test is taken to need that nobody has measured."""


@dataclass(frozen=True, slots=True)
class Part:
    """Part `number` of `count`, from 1 on."""

    number: int
    count: int

    @staticmethod
    def parse(text: str) -> "Part":
        """Return the part that a text such as `2/6` names.

        Raises:
            ValueError: It names none.
        """
        number, slash, count = text.partition("/")
        if not (slash and number.isascii() and number.isdigit() and count.isascii() and count.isdigit()):
            raise ValueError(f"{text!r} is not a part such as 2/6")
        part = Part(int(number), int(count))
        if not 1 <= part.number <= part.count:
            raise ValueError(f"{text!r}: parts are numbered from 1 to {part.count}")
        return part


def divide(tests: Iterable[str], seconds: Mapping[str, float], count: int) -> list[list[str]]:
    """Divide tests into `count` parts: the longest first, each to the part that has the least to do so far.

    The same tests and seconds give the same parts, in whatever order the tests come.
    """
    parts: list[list[str]] = [[] for _ in range(count)]
    loads = [(0.0, number) for number in range(count)]
    for test in sorted(tests, key=lambda each: (-seconds.get(each, UNKNOWN_SECONDS), each)):
        load, number = heapq.heappop(loads)
        parts[number].append(test)
        heapq.heappush(loads, (load + seconds.get(test, UNKNOWN_SECONDS), number))
    return parts


def stored_seconds(path: Path = STORED) -> dict[str, float]:
    """Return the seconds of each test that has some."""
    found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return found


def keep_seconds(measured: Mapping[str, float], path: Path = STORED) -> None:
    """Write what was measured over what is stored."""
    known = stored_seconds(path) | {test: round(seconds, 1) for test, seconds in measured.items()}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")

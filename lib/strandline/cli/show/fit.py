"""A table made to fit a terminal: long names cut where they still tell each other apart, then columns left out."""

from collections.abc import Sequence
from itertools import pairwise

from strandline.cli.text import aligned, printable

CUT = "…"
LEAST_NAME = 16
"""A name is not cut to fewer signs."""

Row = Sequence[object]


def fitted(
    columns: Sequence[str], rows: Sequence[Row], width: int, *, named: str, spare: Sequence[str]
) -> tuple[list[str], list[list[object]]]:
    """Return the columns and rows of a table that `aligned` makes at most `width` wide, if that can be.

    The names in the column `named` are cut, but so that no two of them look alike: what is left names one. Then the
    columns `spare` are left out, the first one first. What is still too wide is cut to fit.
    """
    names = [printable(row[columns.index(named)]) for row in rows]
    shown, least = list(columns), max(LEAST_NAME, _told_apart(names) + len(CUT))
    left_out = list(spare)
    while True:
        kept = [[row[columns.index(name)] for name in shown] for row in rows]
        over = _width(shown, kept) - width
        longest = max(map(len, names), default=0)
        if over <= 0:
            return shown, kept
        if longest - over >= least or not left_out:
            at, most = shown.index(named), max(longest - over, LEAST_NAME)
            return shown, [[*row[:at], _cut(str(row[at]), most), *row[at + 1 :]] for row in kept]
        shown.remove(left_out.pop(0))


def _width(columns: Sequence[str], rows: Sequence[Row]) -> int:
    return max(map(len, aligned(columns, rows)))


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - len(CUT)] + CUT


def _told_apart(names: Sequence[str]) -> int:
    """Return of how many first signs of each of the names no two are equal."""
    ordered = sorted(set(names))
    return max((_common(*pair) + 1 for pair in pairwise(ordered)), default=0)


def _common(one: str, other: str) -> int:
    """Return how many first signs of two texts are equal."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )

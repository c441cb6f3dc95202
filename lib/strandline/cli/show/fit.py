"""Makes a table fit a terminal: cuts long names but keeps them distinct, then leaves out columns."""

from collections.abc import Sequence
from itertools import pairwise

from strandline.cli.text import aligned, printable

CUT = "…"
LEAST_NAME = 16
"""The least length of a cut name, in characters."""

Row = Sequence[object]


def fitted(
    columns: Sequence[str], rows: Sequence[Row], width: int, *, named: str, spare: Sequence[str]
) -> tuple[list[str], list[list[object]]]:
    """Return columns and rows that `aligned` makes at most `width` characters wide, if possible.

    Cuts the names in the column `named` so that no two are equal. If that is not enough, leaves out the columns
    `spare`, in their order. Then cuts names to fit.
    """
    names = [printable(row[columns.index(named)]) for row in rows]
    shown, least = list(columns), max(LEAST_NAME, _distinct_prefix(names) + len(CUT))
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


def _distinct_prefix(names: Sequence[str]) -> int:
    """Return the least prefix length at which no two of the names are equal."""
    ordered = sorted(set(names))
    return max((_common(*pair) + 1 for pair in pairwise(ordered)), default=0)


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )

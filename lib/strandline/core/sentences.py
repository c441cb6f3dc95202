"""Parts of sentences: numbers with the noun that they count, lists that are cut, and the stop at the end."""

from collections.abc import Sequence


def amount(number: int, noun: str) -> str:
    """Return `1 row`, `2 rows`, `1,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def first_ones(values: Sequence[object], most: int) -> str:
    """Return the first values, and how many more there are: `a, b … and 3 more`."""
    more = len(values) - most
    shown = ", ".join(map(str, values[:most]))
    return f"{shown} … and {more:,} more" if more > 0 else shown


def sentence_of(text: str) -> str:
    """Return `text` with a full stop unless it ends in another end mark; nothing stays nothing."""
    stripped = text.strip()
    return stripped if not stripped or stripped.endswith((".", "?", "!", "`", ")")) else f"{stripped}."

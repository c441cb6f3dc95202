"""Numbers with the noun that they count."""


def amount(number: int, noun: str) -> str:
    """Return `1 row`, `2 rows`, `1,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

"""Parts of sentences: numbers with the noun that they count, and the stop at the end."""


def amount(number: int, noun: str) -> str:
    """Return `1 row`, `2 rows`, `1,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def sentence_of(text: str) -> str:
    """Return `text` with a full stop unless it ends in another end mark; nothing stays nothing."""
    stripped = text.strip()
    return stripped if not stripped or stripped.endswith((".", "?", "!", "`", ")")) else f"{stripped}."

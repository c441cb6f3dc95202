"""Markdown from values: tables whose cells cannot break out, and lines of a page."""

from collections.abc import Iterable

WRITTEN = "Written by `make reference`; a test compares it with the product."
"""The line below the title of each page that is written."""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; a pipe in a cell is escaped."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n" for cells in lines)


def words(text: str) -> str:
    """Return a text as Markdown: what looks like a tag stays a text."""
    return text.replace("<", "&lt;")


def code(text: str) -> str:
    """Return a name as code."""
    return f"`{text}`"


def block(language: str, text: str) -> str:
    """Return a fenced block."""
    return f"```{language}\n{text.strip()}\n```\n"


def page(title: str, *parts: str) -> str:
    """Return a page: title, the line that says who writes it, parts with an empty line between them."""
    return "\n".join([f"# {title}\n", f"{WRITTEN}\n", *(part.rstrip("\n") + "\n" for part in parts)])

"""The README's lists of tables and views, as Markdown."""

from collections.abc import Iterable, Mapping

from strandline.contracts.model import Contract
from strandline.contracts.views import Query


def table_list(contracts: Iterable[Contract]) -> str:
    """Return a Markdown table: each table, its description, its key, and the commands that write it."""
    rows = (
        (
            f"`{each.table}`",
            each.description,
            ", ".join(f"`{name}`" for name in each.key),
            ", ".join(each.written_by),
        )
        for each in contracts
    )
    return _markdown(("table", "holds", "key", "written by"), rows)


def view_list(views: Mapping[str, Query]) -> str:
    """Return a Markdown table: each view and its description."""
    return _markdown(("view", "shows"), ((f"`{each.name}`", each.description) for each in views.values()))


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n" for cells in lines)

"""The page of the views: what each shows, an example, its columns and its SELECT."""

from collections.abc import Iterable, Mapping

from docsite import markdown
from docsite.markdown import code, words
from docsite.view_columns import ViewColumn, view_columns
from strandline.contracts.model import Contract
from strandline.contracts.views import Query

MOST_TEXT = 80
"""A longer expression is only in the SELECT."""


def view_list(views: Mapping[str, Query]) -> str:
    """Return a Markdown table: each view and its description."""
    rows = ((f"[`{each.name}`](#{each.name})", words(each.description)) for each in views.values())
    return markdown.table(("view", "shows"), rows)


def page(views: Mapping[str, Query], contracts: Iterable[Contract]) -> str:
    """Return the page: the list of views, then each with its columns and its SELECT."""
    texts = {(each.table, column.name): column.description for each in contracts for column in each.columns}
    return markdown.page(
        "Views",
        "Views are the interface for queries: hex instead of bytes, one state of each namespace, no columns for"
        " internal use. No name needs quotes. `position` is a place in an order, oldest first: of an entry in its log"
        " from 1, of a message of a group of devices from 0. [Queries](../queries.md) has results.",
        view_list(views),
        *(_section(view, texts) for view in views.values()),
    )


def _section(view: Query, texts: Mapping[tuple[str, str], str]) -> str:
    rows = [(code(column.name), *_from(column, texts)) for column in view_columns(view)]
    return "\n".join(
        [
            f"## {view.name}\n",
            f"{words(view.description)}\n",
            markdown.block("sql", view.example),
            markdown.table(("column", "from", "holds"), rows),
            '<details markdown="1"><summary>Its SELECT</summary>\n',
            markdown.block("sql", view.select),
            "</details>",
        ]
    )


def _from(column: ViewColumn, texts: Mapping[tuple[str, str], str]) -> tuple[str, str]:
    if column.table is None or column.column is None:
        short = len(column.text) <= MOST_TEXT and "\n" not in column.text
        return (code(column.text) if short else "see its SELECT", "")
    shown = f"[`{column.table}`](tables.md#{column.table})"
    return (f"{shown}, in hex" if column.in_hex else shown, words(texts[column.table, column.column]))

"""Views and checks: files in `schemas/` with a header and one SELECT each.

The comment at the top of a file starts with a description, in a view followed by `Example:` and one query. A line with
only `--` ends both; comments below it are for readers of the file.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from types import MappingProxyType
from typing import Final

from strandline.contracts import resources
from strandline.contracts.quoting import quote_text

EXAMPLE: Final = "Example:"
BEHIND: Final = "{behind}"
NOTHING_BEHIND: Final = "SELECT namespace, CAST(0 AS BIGINT) AS behind FROM namespace_state WHERE false"


@dataclass(frozen=True, slots=True)
class Query:
    """One SELECT over tables with bare names."""

    name: str
    description: str
    example: str
    """A query over the view; empty for a check."""
    select: str
    """The SELECT without header; comments inside it stay."""


def view_names() -> tuple[str, ...]:
    """Return the names of the views, ascending."""
    return tuple(queries("views"))


def views(*, behind: Iterable[str]) -> Mapping[str, Query]:
    """Return the views by name, ascending. No view reads another, so any order of creation works.

    `behind` are the dialects' SELECTs of namespace and behind (`dialect_api.health`), which `namespace_health` sums up.
    """
    # An expression has no comment: delta-rs cannot union columns with different comments.
    each = (f"SELECT concat(namespace, '') AS namespace, behind FROM (\n{part}\n) AS part" for part in behind)
    parts = "\nUNION ALL\n".join(each) or NOTHING_BEHIND
    return MappingProxyType(
        {
            name: replace(query, select=query.select.replace(BEHIND, parts))
            for name, query in queries("views").items()
        }
    )


def create_view_sql(view: Query, *, target: str, temporary: bool = False) -> str:
    """Return the statement that creates or replaces the view.

    Args:
        view: One of `views`.
        target: Its name as SQL, from `quote_name`.
        temporary: Register it only in the session, if the catalog must not change.
    """
    kind = "TEMPORARY VIEW" if temporary else "VIEW"
    return f"CREATE OR REPLACE {kind} {target}\nCOMMENT {quote_text(view.description)}\nAS\n{view.select}"


def parse_query(name: str, source: str) -> Query:
    """Return the query of the text of a file: header, then one SELECT."""
    lines = source.strip().splitlines()
    body = next((index for index, line in enumerate(lines) if not line.startswith("--")), len(lines))
    comments = [line.removeprefix("--").strip() for line in lines[:body]]
    header = " ".join(takewhile(bool, comments))
    description, _, example = header.partition(EXAMPLE)
    return Query(name, description.strip(), example.strip(), "\n".join(lines[body:]).strip())


@cache
def queries(folder: str) -> Mapping[str, Query]:
    """Return the queries of a folder of `schemas` by name, ascending."""
    names = resources.stems("schemas", folder, suffix=".sql")
    return MappingProxyType(
        {name: parse_query(name, resources.text("schemas", folder, name + ".sql")) for name in names}
    )

"""Queries with bare names, rewritten so that they name their tables in full.

Over Spark Connect a query is resolved each time that it runs, when the bare names of `tables.views.bare_names` are
gone. A query that says where its tables are keeps its meaning. The text around the names stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from strandline.contracts.load import tables
from strandline.contracts.quoting import quote_name
from strandline.core.errors import FaultError, UsageError
from strandline.tables.location import Location
from strandline.tables.views import lake_views, names

if TYPE_CHECKING:
    from sqlglot import exp

_BEFORE_ALIAS: Final = ("alias", "version", "sample", "pivots")
"""What stands between a table and its alias, or is one: then none is added."""


@dataclass(frozen=True, slots=True)
class Place:
    """What takes the place of a bare name: SQL, and whether it needs the name as its alias."""

    text: str
    needs_alias: bool


def places(location: Location) -> Mapping[str, Place]:
    """Return the place of each table and view of a lake.

    In a schema these are names of three parts. At a path, a table is read where it lies, and a view is its SELECT: no
    catalog needs to know of them.
    """
    if location.catalog is not None and location.schema_name is not None:
        return {
            name: Place(quote_name(location.catalog, location.schema_name, name), False) for name in names()
        }
    found = {name: Place(f"delta.{quote_name(location.table_path(name))}", True) for name in tables()}
    views = {name: Place(f"({qualified(view.select, found)})", True) for name, view in lake_views().items()}
    return found | views


def qualified(query: str, known: Mapping[str, Place]) -> str:
    """Return the query with each bare name of `known` replaced by its place.

    A name in quotes, or in upper case, is the same name. What is no query (SHOW, DESCRIBE) is returned unchanged.

    Raises:
        UsageError: `QUERY_NOT_READ`: the parser cannot read it; `NAME_TWICE`: the query gives a name of the lake to a
            part of itself, so that one name would mean two things.
        FaultError: `CONNECT_EXTRA_MISSING`: sqlglot is not installed.
    """
    tree = _parsed(query)
    if tree is None:
        return query
    from sqlglot import exp

    own = {each.alias.lower() for each in tree.find_all(exp.CTE)}
    for name in sorted(own & known.keys()):
        raise UsageError(
            "NAME_TWICE",
            f"over Spark Connect a part of a query cannot have the name of a table: {name}",
            "give that part of WITH another name",
        )
    bare = [each for each in tree.find_all(exp.Table) if not each.args.get("db")]
    found = [(each, known[each.name.lower()]) for each in bare if each.name.lower() in known]
    text = query
    for table, place in sorted(found, key=lambda each: -_span(each[0])[0]):
        start, end = _span(table)
        alias = place.needs_alias and not any(table.args.get(each) for each in _BEFORE_ALIAS)
        text = text[:start] + place.text + (f" AS {quote_name(table.name)}" if alias else "") + text[end:]
    return text


def _parsed(query: str) -> exp.Query | None:
    """Return the query as a tree, or None for what is no query."""
    try:
        from sqlglot import exp, parse_one
        from sqlglot.errors import SqlglotError
    except ImportError:
        raise FaultError(
            "CONNECT_EXTRA_MISSING",
            "a query over Spark Connect needs the package sqlglot",
            "pip install 'WHEEL[connect]', with the path of the wheel",
        ) from None
    try:
        tree = parse_one(query, read="databricks")
    except SqlglotError as error:
        raise UsageError(
            "QUERY_NOT_READ",
            f"over Spark Connect this query cannot be read: {str(error).splitlines()[0]}",
            "write it in a simpler form, or join the DataFrames of `lake.table`",
        ) from None
    return tree if isinstance(tree, exp.Query) else None


def _span(table: exp.Table) -> tuple[int, int]:
    """Return where the name of a table begins and ends in the text, with its quotes."""
    place = table.this.meta
    return place["start"], place["end"] + 1

"""Queries with bare names, rewritten so that they name their tables in full.

Over Spark Connect a query is resolved each time that it runs, when the bare names of `tables.views.bare_names` are
gone. A query that says where its tables are keeps its meaning. The text around the names stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from strandline.contracts.load import tables
from strandline.contracts.quoting import quote_name
from strandline.core.errors import FaultError, UsageError
from strandline.tables.location import Location
from strandline.tables.views import lake_views, names

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

_DIALECT: Final = "databricks"
"""The SQL of the parser."""

_BEFORE_ALIAS: Final = ("alias", "version", "sample", "pivots")
"""What stands between a table and its alias, or is one: then none is added."""


@dataclass(frozen=True, slots=True)
class Place:
    """What takes the place of a bare name: SQL, and whether it needs the name as its alias."""

    text: str
    needs_alias: bool

    def under(self, alias: str | None) -> str:
        """Return the text, with the alias if there is one."""
        return self.text if alias is None else f"{self.text} AS {quote_name(alias)}"


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
    tokens = _tokens(query)
    tree = _parsed(_without_partitioning(query, tokens))
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
    edits: list[tuple[int, int, str]] = []
    for table in tree.find_all(exp.Table):
        place = known.get(table.name.lower())
        if place is None or table.args.get("db"):
            continue
        named = place.needs_alias and not any(table.args.get(each) for each in _BEFORE_ALIAS)
        span = table.this.meta
        edits.append((span["start"], span["end"], place.under(table.name if named else None)))
    for argument in _named_arguments(tokens):
        place = known.get(argument.text.lower())
        if place is not None:
            source = place.under(argument.text if place.needs_alias else None)
            edits.append((argument.start, argument.end, f"SELECT * FROM {source}"))
    text = query
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end + 1 :]
    return text


def _tokens(query: str) -> list[Token]:
    """Return the words of a query, comments left out."""
    try:
        from sqlglot import Dialect
        from sqlglot.errors import SqlglotError
    except ImportError:
        raise FaultError(
            "CONNECT_EXTRA_MISSING",
            "a query over Spark Connect needs the package sqlglot",
            "pip install 'WHEEL[connect]', with the path of the wheel",
        ) from None
    try:
        return Dialect.get_or_raise(_DIALECT).tokenize(query)
    except SqlglotError as error:
        raise _not_read(error) from None


def _arguments(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield for each `TABLE (..)` the places of its brackets among the tokens."""
    opened: list[int] = []
    for place, token in enumerate(tokens):
        kind = token.token_type.name
        if kind == "L_PAREN":
            opened.append(place)
        elif kind == "R_PAREN" and opened:
            start = opened.pop()
            if start and tokens[start - 1].token_type.name == "TABLE":
                yield start, place


def _named_arguments(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the name in each `TABLE (name)`: the parser takes it for a column."""
    for start, end in _arguments(tokens):
        if end == start + 2:
            yield tokens[start + 1]


def _without_partitioning(query: str, tokens: Sequence[Token]) -> str:
    """Return the query with blanks for what follows `TABLE (..)` in an argument: the parser does not know that.

    That is PARTITION BY or WITH SINGLE PARTITION, and ORDER BY; all other words keep their places.
    """
    for _, end in _arguments(tokens):
        depth, last = 0, end
        for place in range(end + 1, len(tokens)):
            kind = tokens[place].token_type.name
            if depth == 0 and kind in ("COMMA", "R_PAREN"):
                break
            depth += {"L_PAREN": 1, "R_PAREN": -1}.get(kind, 0)
            last = place
        if last > end:
            start, stop = tokens[end + 1].start, tokens[last].end + 1
            query = query[:start] + " " * (stop - start) + query[stop:]
    return query


def _parsed(query: str) -> exp.Query | None:
    """Return the query as a tree, or None for what is no query."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_one(query, read=_DIALECT)
    except SqlglotError as error:
        raise _not_read(error) from None
    return tree if isinstance(tree, exp.Query) else None


def _not_read(error: Exception) -> UsageError:
    return UsageError(
        "QUERY_NOT_READ",
        f"over Spark Connect this query cannot be read: {str(error).splitlines()[0]}",
        "write it in a simpler form, or join the DataFrames of `lake.table`",
    )

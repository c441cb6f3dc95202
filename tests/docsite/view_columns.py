"""The columns of a view, and the column of a table that each one shows, read from its SELECT."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp, parse_one

from strandline.contracts.views import Query

HEX = (exp.Hex, exp.LowerHex)
PLAIN = (exp.Column, exp.Identifier, exp.Lower, exp.Paren, *HEX)
"""What may stand around a column that is still shown as it is: hex is how binary columns are shown."""


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """One column of a view. `table` and `column` say where it comes from unchanged; both None if it is computed.

    `text` is its expression, `in_hex` whether bytes are shown as hex.
    """

    name: str
    text: str
    in_hex: bool = False
    table: str | None = None
    column: str | None = None


def view_columns(view: Query) -> tuple[ViewColumn, ...]:
    """Return the columns of the view, in their order."""
    select = parse_one(view.select, read="spark")
    assert isinstance(select, exp.Select)
    return _columns(select, {each.alias: each.this for each in select.find_all(exp.CTE)})


def _columns(select: exp.Select, parts: Mapping[str, exp.Expression]) -> tuple[ViewColumn, ...]:
    """Return the columns of one SELECT; `parts` are the common table expressions of the view by name."""
    sources = [select.args.get("from_"), *select.args.get("joins", ())]
    tables = {
        each.this.alias_or_name: each.this.name
        for each in sources
        if each is not None and isinstance(each.this, exp.Table)
    }
    return tuple(_origin(each, tables, parts) for each in select.selects)


def _origin(
    shown: exp.Expression, tables: Mapping[str, str], parts: Mapping[str, exp.Expression]
) -> ViewColumn:
    inner = shown.unalias()
    computed = ViewColumn(shown.alias_or_name, inner.sql("spark"))
    columns = list(inner.find_all(exp.Column))
    if len(columns) != 1 or not all(isinstance(node, PLAIN) for node in inner.walk()):
        return computed
    [column] = columns
    table = tables.get(column.table) if column.table else next(iter(tables.values()), None)
    in_hex = inner.find(*HEX) is not None
    if table not in parts:
        return (
            computed if table is None else replace(computed, in_hex=in_hex, table=table, column=column.name)
        )
    part = parts[table]
    inside = _columns(part, parts) if isinstance(part, exp.Select) else ()
    found = next((each for each in inside if each.name == column.name), computed)
    return replace(found, name=computed.name, in_hex=in_hex or found.in_hex)

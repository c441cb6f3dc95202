"""The columns of a view, and the column of a table that each one shows, read from its SELECT."""

from dataclasses import dataclass, replace

from sqlglot import exp, parse_one

from strandline.contracts.views import Query

HEX = (exp.Hex, exp.LowerHex)
PLAIN = (exp.Column, exp.Lower, exp.Paren, *HEX)
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
    made = {each.alias for each in select.find_all(exp.CTE)}
    sources = [each for each in (select.find(exp.From), *select.args.get("joins", ())) if each is not None]
    tables = {each.this.alias_or_name: each.this.name for each in sources if isinstance(each.this, exp.Table)}
    return tuple(_origin(each, tables, made) for each in select.selects)


def _origin(shown: exp.Expression, tables: dict[str, str], made: set[str]) -> ViewColumn:
    inner = shown.unalias()
    computed = ViewColumn(shown.alias_or_name, inner.sql("spark"))
    columns = list(inner.find_all(exp.Column))
    if len(columns) != 1 or any(not isinstance(node, (*PLAIN, exp.Identifier)) for node in inner.walk()):
        return computed
    [column] = columns
    table = tables.get(column.table) if column.table else next(iter(tables.values()))
    if table is None or table in made:
        return computed
    return replace(computed, in_hex=inner.find(*HEX) is not None, table=table, column=column.name)

"""What each view can tell, read from its SELECT and from the contracts: the rows of tests must show all of it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from sqlglot import exp, parse_one

from docsite.view_columns import view_columns
from strandline.contracts.load import contract
from strandline.contracts.views import Query
from strandline.dialects import names
from strandline.dialects.ipfslog.reduce.configuration import Whence
from strandline.dialects.ipfslog.reduce.stores import Store

SOMETHING = "something"
"""A column tells something if it is not null, and no zero, no empty text, no empty list and no empty map."""


FORKS = (
    "SDMP_FORK", "IPFSLOG_CLOCK_FORK", "DEVICELOG_FORK",
    "AURA_OP_FORK", "AURA_CONSENSUS_FORK", "AURA_CHECKPOINT_FORK", "AURA_COMMIT_FORK",
)  # fmt: skip
MORE: Mapping[str, Mapping[str, Iterable[str]]] = {
    "damaged_source": {"dialect": names()},
    "fork": {"dialect": names(), "kind": FORKS},
    "ipfs_log_dag": {"variant": ("v0", "v1", "v2", "core2")},
    "ipfs_log_health": {"mode": ("sort", "walk"), "store": get_args(Store), "whence": get_args(Whence)},
    "namespace_health": {"dialect": names()},
    "quarantine_age": {"dialect": names()},
}
"""Values of columns that neither a constraint nor the SELECT lists."""


def kinds(view: Query, booleans: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield each column of a view with each kind of value that some row must have.

    - a boolean: true and false;
    - a column of a table, with a constraint that lists its values: each of them;
    - a CASE over texts: each text;
    - a column of `MORE`: each value there;
    - every column: something.
    """
    for column in view_columns(view):
        yield column.name, SOMETHING
        yield from ((column.name, value) for value in MORE.get(view.name, {}).get(column.name, ()))
        if column.name in booleans:
            yield from ((column.name, value) for value in (True, False))
        elif column.table is not None and column.column is not None:
            yield from ((column.name, value) for value in listed(column.table, column.column))
        else:
            yield from ((column.name, value) for value in chosen(column.text))


def listed(table: str, column: str) -> list[str]:
    """The values to which a constraint of the table limits the column."""
    checks = contract(table).checks.values()
    found = (re.match(rf"{column} IN \(([^)]*)\)", check) for check in checks)
    return [text for each in found if each for text in re.findall(r"'([^']*)'", each[1])]


def chosen(expression: str) -> list[str]:
    """The texts among which an expression that is one CASE chooses."""
    case = parse_one(expression, read="spark")
    if not isinstance(case, exp.Case):
        return []
    results = [*(each.args["true"] for each in case.args["ifs"]), case.args.get("default")]
    return [each.name for each in results if isinstance(each, exp.Literal) and each.is_string]


def shown(rows: Iterable[Mapping[str, Any]]) -> set[tuple[str, Any]]:
    """The kinds of values that rows have, by column."""
    found = set()
    for row in rows:
        for name, value in row.items():
            if value or isinstance(value, bool):
                found.add((name, SOMETHING))
            if isinstance(value, (bool, str)):
                found.add((name, value))
    return found

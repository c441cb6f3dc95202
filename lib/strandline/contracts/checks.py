"""Checks: the invariants of a lake, each a SELECT of the rows that break it.

Invariants of one table are rendered from its contract, so that none is forgotten: keys are unique, rows are in the
right bucket, CHECK constraints hold. Invariants of several tables are files in `schemas/checks`. NOT NULL is not
checked: Spark trusts the declaration of the table and answers without reading.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from strandline.contracts import views
from strandline.contracts.load import contracts, tables
from strandline.contracts.model import Column, Contract
from strandline.contracts.quoting import quote_text, with_buckets

ROW_CHARACTERS: Final = 4_096
"""Maximum text of a reported row: its values are untrusted."""

_TABLE: Final = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant: `select` returns the rows that break it, over `tables` with bare names."""

    name: str
    description: str
    tables: tuple[str, ...]
    select: str


def checks(*, buckets: int) -> tuple[Check, ...]:
    """Return all checks of a lake: those of the contracts, then those of `schemas/checks`."""
    described = contracts()
    return tuple(
        replace(check, select=with_buckets(check.select, buckets))
        for check in (*generated_checks(described), *written_checks())
    )


def generated_checks(described: Iterable[Contract]) -> tuple[Check, ...]:
    """Return the checks of contracts, one per kind and table, with the placeholder `{buckets}`."""
    described = tuple(described)
    return tuple(
        Check(name, description, (contract.table,), select)
        for name, (description, render) in GENERATED.items()
        for contract in described
        if (select := render(contract)) is not None
    )


def written_checks() -> tuple[Check, ...]:
    """Return the files of `schemas/checks`, by name, ascending."""
    return tuple(
        Check(query.name, query.description, tables_read(query.select), query.select)
        for query in views.queries("checks").values()
    )


def tables_read(select: str) -> tuple[str, ...]:
    """Return the tables of contracts that a SELECT reads, each once, in the order of the text."""
    return tuple(name for name in dict.fromkeys(_TABLE.findall(select)) if name in tables())


def bucket_sql(contract: Contract) -> str:
    """Return the bucket of a row as SQL: by its namespace, or by its key if the namespace is null."""
    digest = "sha2(CAST(namespace AS BINARY), 256)"
    if not _always_has_namespace(contract):
        digest = f"CASE WHEN namespace IS NULL THEN hex({contract.key[0]}) ELSE {digest} END"
    return f"CAST(conv(substring({digest}, 1, 4), 16, 10) AS INT) % {{buckets}}"


def keys_are_unique_sql(contract: Contract) -> str:
    """Return the SELECT of repeated keys."""
    return (
        f"SELECT {_shown_key(contract)}, count(*) AS row_count\n"
        f"FROM {contract.table}\nGROUP BY {', '.join(contract.key)}\nHAVING count(*) > 1"
    )


def buckets_are_derived_sql(contract: Contract) -> str | None:
    """Return the SELECT of the rows in a wrong bucket, by namespace; None for a table without buckets."""
    if not contract.is_bucketed:
        return None
    wrong = f"FROM {contract.table}\nWHERE bucket <> {bucket_sql(contract)}"
    if not _always_has_namespace(contract):
        return f"SELECT {_shown_key(contract)}, namespace, bucket\n{wrong}"
    return f"SELECT namespace, bucket, count(*) AS row_count\n{wrong}\nGROUP BY namespace, bucket"


def constraints_hold_sql(contract: Contract) -> str | None:
    """Return the SELECT of the rows that break a CHECK constraint, with their names; None without constraints.

    As in Delta, a constraint holds only if it is true, not if it is null. The bucket has its own check.
    """
    derived = f"bucket = {bucket_sql(contract)}" if contract.is_bucketed else None
    broken = ",\n    ".join(
        f"CASE WHEN ({text}) IS NOT TRUE THEN {quote_text(name)} END"
        for name, text in contract.checks.items()
        if text != derived
    )
    if not broken:
        return None
    return (
        f"SELECT *\nFROM (\n  SELECT {_shown_key(contract)}, array_compact(array(\n    {broken}\n  )) AS constraints\n"
        f"  FROM {contract.table}\n)\nWHERE size(constraints) > 0"
    )


_KEYS: Final = (
    "Keys that are in a table more than once. A MERGE inserts a key once, also with concurrent writers."
)
_BUCKETS: Final = (
    "Rows in a bucket that is not the first two bytes of SHA-256 of their namespace (of their key if that is "
    "null) modulo N, the table property strandline.buckets."
)
_CONSTRAINTS: Final = (
    "Rows that break a CHECK constraint of their contract. Delta refuses such rows, but a writer that does not support "
    "constraints can write them."
)
GENERATED: Final[Mapping[str, tuple[str, Callable[[Contract], str | None]]]] = {
    "keys_are_unique": (_KEYS, keys_are_unique_sql),
    "buckets_are_derived": (_BUCKETS, buckets_are_derived_sql),
    "constraints_hold": (_CONSTRAINTS, constraints_hold_sql),
}
"""By name of the check: its description, and its SELECT for a table or None."""


def broken_rows_sql(asked: Sequence[Check], *, most: int) -> str:
    """Return one query for several checks: `number` (index in `asked`) and `broken` (a row as JSON text).

    It returns at most `most` rows per check, the least by text, so that the same lake gives the same rows. A text is
    cut after `ROW_CHARACTERS`.
    """
    return "\nUNION ALL\n".join(
        f"(SELECT {number} AS number, left(to_json(struct(*)), {ROW_CHARACTERS}) AS broken FROM (\n{check.select}\n)"
        f" ORDER BY broken LIMIT {int(most)})"
        for number, check in enumerate(asked)
    )


def _always_has_namespace(contract: Contract) -> bool:
    return any(column.name == "namespace" and column.required for column in contract.columns)


def _shown_key(contract: Contract) -> str:
    by_name = {column.name: column for column in contract.columns}
    return ", ".join(_shown(by_name[name]) for name in contract.key)


def _shown(column: Column) -> str:
    is_bytes = column.physical_type == "BINARY"
    return f"lower(hex({column.name})) AS {column.name}" if is_bytes else column.name

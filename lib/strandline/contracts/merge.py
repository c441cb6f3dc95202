"""MERGE as text: one function a merge policy, rendered from a contract.

Everywhere the source is a view of one batch with the columns of the contract and at most one row a key, and
the literal buckets are those of the batch: only conditions on the target alone keep Delta from reading the
other buckets.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from strandline.contracts.model import Contract, Merge
from strandline.contracts.quoting import quote_name

NO_BOUNDS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({})
DELETED: Final = "is_gone"
"""Column of a replacing merge's source: true in rows that hold but a key, whose row must go."""


def insert_only_merge_sql(
    contract: Contract,
    *,
    target: str,
    source: str,
    buckets: Sequence[int],
    bounds: Mapping[str, tuple[int, int]] = NO_BOUNDS,
) -> str:
    """Return the union merge: absent rows are added, nothing else changes.

    It has no other clause, so Delta takes its insert-only path: one job, the source read once, files added.

    Args:
        contract: A table of the policy `insert_only`.
        target: The table's name as SQL, from `quote_path` or `quote_name`.
        source: Name of the view of the batch.
        buckets: The buckets of the batch.
        bounds: Least and greatest value of the layout column in the batch, to skip the target's files by.

    Raises:
        ValueError: The policy is another one, there are no buckets, or a bound is not on the layout column.
    """
    _require(contract, "insert_only")
    ranges = _ranges(contract, bounds)
    return _merge_into(contract, target, source, buckets, ranges) + _insert(contract)


def continue_merge_sql(
    contract: Contract, *, target: str, source: str, buckets: Sequence[int], bounds: tuple[int, int]
) -> str:
    """Return the merge that continues journals: rows of a namespace go in, all of them, where it holds nothing at
    `next_<layout column>`, and none of them where it does.

    The source has that column beside the columns of the contract, the same in all rows of a namespace. Insert-only as
    the union merge: what another writer added since the tip was read is seen when this one commits, or makes it fail.

    Args:
        contract: A table of the policy `insert_only` with a layout column.
        target: The table's name as SQL, from `quote_path` or `quote_name`.
        source: Name of the view of the batch.
        buckets: The buckets of the batch.
        bounds: Least and greatest next position in the batch, to skip the target's files by.

    Raises:
        ValueError: The policy is another one, there is no layout column, or there are no buckets.
    """
    _require(contract, "insert_only")
    if contract.layout_column is None:
        raise ValueError(f"{contract.table} has no layout column that a journal could be continued by")
    name, (low, high) = contract.layout_column, bounds
    ranges = [f"t.{name} = s.next_{name}", f"t.{name} BETWEEN {int(low)} AND {int(high)}"]
    return _merge_into(contract, target, source, buckets, ranges, key=("namespace",)) + _insert(contract)


def replace_merge_sql(
    contract: Contract,
    *,
    target: str,
    source: str,
    buckets: Sequence[int],
    deleting: bool = False,
    bounds: Mapping[str, tuple[int, int]] = NO_BOUNDS,
) -> str:
    """Return the merge after which each key of the batch has the row of the batch.

    A row that differs in nothing but provenance stays as it is, so that a repeated reduction changes nothing. With
    `deleting` the source has the column GONE, and keys that it is true for are not there afterwards. `bounds` promise
    that no stored row with a key of the batch lies outside of them. Of a table of keys alone nothing is updated.

    Raises:
        ValueError: The policy is not `replace`, there are no buckets, or a bound is not on the layout column.
    """
    _require(contract, "replace")
    ranges = _ranges(contract, bounds)
    fixed = {*contract.key, *contract.partition}
    changing = [name for name in contract.compared if name not in fixed]
    same = "\n    AND ".join(f"t.{name} <=> s.{name}" for name in changing)
    updates = {name: f"s.{name}" for name in contract.names if name not in fixed}
    deletes = f"WHEN MATCHED AND s.{DELETED} THEN DELETE\n" if deleting else ""
    changes = f"WHEN MATCHED AND NOT (\n    {same}\n) THEN {_update(updates)}\n" if changing else ""
    return (
        _merge_into(contract, target, source, buckets, ranges)
        + deletes
        + changes
        + _insert(contract, f" AND NOT s.{DELETED}" if deleting else "")
    )


def upsert_merge_sql(contract: Contract, *, target: str, source: str, buckets: Sequence[int]) -> str:
    """Return the merge after which each key is there, and a second sighting has changed what `on_match` says.

    Raises:
        ValueError: The contract's policy is not `upsert`, or there are no buckets.
    """
    _require(contract, "upsert")
    matched = f"WHEN MATCHED THEN {_update(contract.on_match)}\n"
    return _merge_into(contract, target, source, buckets) + matched + _insert(contract)


def delete_merge_sql(contract: Contract, *, target: str, source: str, buckets: Sequence[int]) -> str:
    """Return the merge after which no key of the batch is there; the batch needs the key's columns and bucket alone.

    Raises:
        ValueError: There are no buckets.
    """
    return _merge_into(contract, target, source, buckets) + "WHEN MATCHED THEN DELETE"


def _merge_into(
    contract: Contract, target: str, source: str, buckets: Sequence[int], ranges: Iterable[str] = (),
    *, key: Sequence[str] | None = None,
) -> str:  # fmt: skip
    if not buckets:
        raise ValueError(f"a merge into {contract.table} names no bucket: the batch is empty")
    literals = ", ".join(str(bucket) for bucket in sorted({int(bucket) for bucket in buckets}))
    equal = [f"t.{name} = s.{name}" for name in ("bucket", *(key or contract.key))]
    condition = "\n  AND ".join([f"t.bucket IN ({literals})", *equal, *ranges])
    return f"MERGE INTO {target} AS t\nUSING {quote_name(source)} AS s\nON {condition}\n"


def _ranges(contract: Contract, bounds: Mapping[str, tuple[int, int]]) -> list[str]:
    if not set(bounds) <= {contract.layout_column}:
        raise ValueError(
            f"{contract.table} bounds {sorted(bounds)}, its layout column is {contract.layout_column}"
        )
    return [f"t.{name} BETWEEN {int(low)} AND {int(high)}" for name, (low, high) in bounds.items()]


def _update(updates: Mapping[str, str]) -> str:
    return "UPDATE SET\n" + ",\n".join(f"  {name} = {value}" for name, value in updates.items())


def _insert(contract: Contract, condition: str = "") -> str:
    values = ", ".join(f"s.{name}" for name in contract.names)
    return f"WHEN NOT MATCHED{condition} THEN INSERT ({', '.join(contract.names)})\nVALUES ({values})"


def _require(contract: Contract, merge: Merge) -> None:
    if contract.merge != merge:
        raise ValueError(f"{contract.table} merges by {contract.merge}, not by {merge}")

"""MERGE as text: one function per merge policy, rendered from a contract.

The source is always a view of one batch, with the columns of the contract and at most one row per key. The literal
buckets are those of the batch: only conditions on the target let Delta skip the files of other buckets. Columns of a
key that can be null are compared null-safe.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from strandline.contracts.bucket_ranges import near_buckets
from strandline.contracts.model import Contract, Merge
from strandline.contracts.quoting import quote_name

NO_BOUNDS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({})
DELETED: Final = "is_gone"
"""Column of the source of a MERGE that deletes, too: true in rows with only a key, whose stored row is deleted."""

SLOT: Final = "slot"
"""Column of the source of a merge into a slot: where a stored row has it, nothing is inserted."""
ERASED_AT: Final = "erased_at"
"""Column with the time at which a part of a record was erased."""


def insert_only_merge_sql(
    contract: Contract,
    *,
    target: str,
    source: str,
    buckets: Sequence[int],
    bounds: Mapping[str, tuple[int, int]] = NO_BOUNDS,
) -> str:
    """Return the insert-only MERGE: absent rows are inserted, nothing else changes.

    It has no other clause, so Delta uses its insert-only path: one job, one read of the source, only new files.

    Args:
        contract: A table of the policy `insert_only`, or of `replace` for rows that are never replaced.
        target: The table's name as SQL, from `quote_path` or `quote_name`.
        source: Name of the view of the batch.
        buckets: The buckets of the batch.
        bounds: Least and greatest value of the layout column in the batch, to skip files of the target.

    Raises:
        ValueError: The policy is another one, there are no buckets, or a bound is not on the layout column.
    """
    _require(contract, "insert_only", "replace")
    ranges = _ranges(contract, bounds)
    return _merge_into(contract, target, source, buckets, ranges) + _insert(contract)


def continue_merge_sql(
    contract: Contract, *, target: str, source: str, buckets: Sequence[int], bounds: tuple[int, int]
) -> str:
    """Return the merge that appends to journals: all rows of a namespace, or none if the table already has a row at
    `next_<layout column>`.

    The source has that column in addition to the columns of the contract, with one value per namespace. Insert-only: a
    row that another writer added after the tip was read is seen at the commit, or makes the commit fail.

    Args:
        contract: A table of the policy `insert_only` with a layout column.
        target: The table's name as SQL, from `quote_path` or `quote_name`.
        source: Name of the view of the batch.
        buckets: The buckets of the batch.
        bounds: Least and greatest next position in the batch, to skip files of the target.

    Raises:
        ValueError: The policy is another one, there is no layout column, or there are no buckets.
    """
    _require(contract, "insert_only")
    if contract.layout_column is None:
        raise ValueError(f"{contract.table} has no layout column, so journals cannot be appended to it")
    name, (low, high) = contract.layout_column, bounds
    ranges = [f"t.{name} = s.next_{name}", f"t.{name} BETWEEN {int(low)} AND {int(high)}"]
    return _merge_into(contract, target, source, buckets, ranges, key=("namespace",)) + _insert(contract)


def slot_merge_sql(
    contract: Contract, *, target: str, source: str, buckets: Sequence[int], column: str
) -> str:
    """Return the merge that inserts a batch, or nothing if a stored row of its namespace has the value of SLOT.

    The source has SLOT in addition to the columns of the contract, with one value per namespace. `column` is compared
    with it. Insert-only, as in `continue_merge_sql`.

    Raises:
        ValueError: The policy is another one, the table has no such column, or there are no buckets.
    """
    _require(contract, "insert_only")
    if column not in contract.names:
        raise ValueError(f"{contract.table} has no column {column}")
    ranges = [f"t.{column} = s.{SLOT}"]
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
    """Return the merge that replaces the row of each key in the batch.

    A row that differs only in provenance stays, so that a repeated reduction changes nothing. With `deleting` the
    source has the column DELETED, and stored rows of keys with the value true are deleted. `bounds` promise that no
    stored row with a key of the batch is outside of them. In a table of only key columns nothing is updated.

    Raises:
        ValueError: The policy is not `replace`, there are no buckets, or a bound is not on the layout column.
    """
    _require(contract, "replace")
    ranges = _ranges(contract, bounds)
    fixed = {*contract.key, *contract.partition}
    changing = [name for name in contract.compared if name not in fixed]
    same = "\n    AND ".join(
        f"{contract.comparable(name, 't')} <=> {contract.comparable(name, 's')}" for name in changing
    )
    updates = {name: f"s.{name}" for name in contract.names if name not in fixed}
    changes = f"WHEN MATCHED AND NOT (\n    {same}\n) THEN {_update(updates)}\n" if changing else ""
    into = _merge_into(contract, target, source, buckets, ranges)
    return into + _deletes(deleting) + changes + _insert(contract, deleting=deleting)


def upsert_merge_sql(
    contract: Contract, *, target: str, source: str, buckets: Sequence[int], deleting: bool = False, where: str = ""
) -> str:  # fmt: skip
    """Return the merge that inserts absent keys and updates existing ones by `on_match`.

    `deleting` as in `replace_merge_sql`. With `where`, a condition over t (stored row) and s (this run's row), the
    other stored rows stay.

    Raises:
        ValueError: The contract's policy is not `upsert`, or there are no buckets.
    """
    _require(contract, "upsert")
    condition = f" AND {where}" if where else ""
    matched = f"WHEN MATCHED{condition} THEN {_update(contract.on_match)}\n"
    into = _merge_into(contract, target, source, buckets)
    return into + _deletes(deleting) + matched + _insert(contract, deleting=deleting)


def delete_merge_sql(
    contract: Contract, *, target: str, source: str, buckets: Sequence[int], below: str | None = None
) -> str:
    """Return the merge that deletes the keys of the batch, which needs only the key columns and bucket.

    With `below`, a column that the batch then needs, too, stored rows whose value is not less than that of the batch
    stay.

    Raises:
        ValueError: There are no buckets.
    """
    matched = "WHEN MATCHED" if below is None else f"WHEN MATCHED AND t.{below} < s.{below}"
    return _merge_into(contract, target, source, buckets) + f"{matched} THEN DELETE"


def erase_merge_sql(
    contract: Contract, *, target: str, source: str, buckets: Sequence[int], column: str
) -> str:
    """Return the merge that sets a column of the keys of the batch to null, and `erased_at` to the time of the run.

    The batch needs only the key columns and bucket. A row that is erased stays as it is.

    Raises:
        ValueError: There are no buckets.
    """
    updates = {column: "NULL", ERASED_AT: "current_timestamp()"}
    matched = f"WHEN MATCHED AND t.{column} IS NOT NULL THEN {_update(updates)}"
    return _merge_into(contract, target, source, buckets) + matched


def _merge_into(
    contract: Contract, target: str, source: str, buckets: Sequence[int], ranges: Iterable[str] = (),
    *, key: Sequence[str] | None = None,
) -> str:  # fmt: skip
    if not buckets:
        raise ValueError(f"a merge into {contract.table} names no bucket: the batch is empty")
    equal = [contract.equal(name, "t", "s") for name in ("bucket", *(key or contract.key))]
    condition = "\n  AND ".join([near_buckets("t.bucket", buckets), *equal, *ranges])
    return f"MERGE INTO {target} AS t\nUSING {quote_name(source)} AS s\nON {condition}\n"


def _ranges(contract: Contract, bounds: Mapping[str, tuple[int, int]]) -> list[str]:
    if not set(bounds) <= {contract.layout_column}:
        raise ValueError(
            f"{contract.table} bounds {sorted(bounds)}, its layout column is {contract.layout_column}"
        )
    return [f"t.{name} BETWEEN {int(low)} AND {int(high)}" for name, (low, high) in bounds.items()]


def _update(updates: Mapping[str, str]) -> str:
    return "UPDATE SET\n" + ",\n".join(f"  {name} = {value}" for name, value in updates.items())


def _deletes(deleting: bool) -> str:
    return f"WHEN MATCHED AND s.{DELETED} THEN DELETE\n" if deleting else ""


def _insert(contract: Contract, *, deleting: bool = False) -> str:
    condition = f" AND NOT s.{DELETED}" if deleting else ""
    values = ", ".join(f"s.{name}" for name in contract.names)
    return f"WHEN NOT MATCHED{condition} THEN INSERT ({', '.join(contract.names)})\nVALUES ({values})"


def _require(contract: Contract, *merges: Merge) -> None:
    if contract.merge not in merges:
        raise ValueError(f"{contract.table} merges by {contract.merge}, not by {' or '.join(merges)}")

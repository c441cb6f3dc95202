"""Operations of authorities to their reduced rows, authority by authority, by the plain functions of `reduce`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from strandline.dialects.aura.codec import stored_fact
from strandline.dialects.aura.kernels.admission import DERIVED_FIELDS
from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.kernels.reduced_rows import REDUCED_SCHEMA, reduced_row
from strandline.dialects.aura.reduce import (
    AuthorityState,
    base_commitment,
    base_state,
    reduce_authority,
    reduce_columns,
)
from strandline.dialects.aura.types import Namespace
from strandline.dialects.aura.verify import AcceptedOp, attested_of

DERIVED: Final = tuple(field.name for field in DERIVED_FIELDS)
REDUCTION_COLUMNS: Final = ("namespace", "bucket", "fact_cbor", "is_base", *DERIVED)


_EPOCHLESS: Final = ("height", "new_epoch")


def reduced(batches: Iterable[pa.RecordBatch], *, full: bool) -> Iterator[pa.RecordBatch]:
    """Yield the state and the rows of each authority.

    Reads: REDUCTION_COLUMNS, the rows of a namespace together: all accepted operations and, `is_base`, at most one
            snapshot, the one in force.
    Gives: REDUCED_SCHEMA, one row per namespace; memory is that of the operations of one.
    With `full`, and where the stored columns do not lead to the state that they state, all operations are applied.
    `is_damaged`: stored columns are not those that the facts give.
    """
    rows = (_of_group(list(group), full=full) for _, group in by_namespace(batches))
    return in_batches(rows, REDUCED_SCHEMA, 1)


def _of_group(group: list[dict[str, Any]], *, full: bool) -> dict[str, Any]:
    ops = [stored_operation(row) for row in group if not row["is_base"]]
    bases = [base_commitment(stored_fact(row["fact_cbor"])) for row in group if row["is_base"]]
    namespace = stored_fact(group[0]["fact_cbor"]).namespace
    found = None if full else _by_columns(namespace, ops, bases)
    if found is None:
        found, is_damaged = _by_facts(namespace, ops, bases)
    else:
        is_damaged = found.chain.count("unreachable") > 0
    return reduced_row(group[0]["bucket"], found, ops, is_damaged=is_damaged)


def _by_columns(namespace: Namespace, ops: list[AcceptedOp], bases: list[bytes]) -> AuthorityState | None:
    """Return the state by the stored columns, or None if they are wrong."""
    base = base_state(ops, bases[0]) if bases else None
    return None if bases and base is None else reduce_columns(namespace, ops, base)


def _by_facts(namespace: Namespace, ops: list[AcceptedOp], bases: list[bytes]) -> tuple[AuthorityState, bool]:
    """Return the state by the facts alone, and whether stored columns are not those that the facts give."""
    facts = [op.fact for op in ops]
    found = reduce_authority(namespace, facts)
    is_damaged = any(_is_damaged(op, found) for op in ops)
    if not bases:
        return found, is_damaged
    base = base_state((row.op for row in found.chain.rows.values()), bases[0])
    return (found, True) if base is None else (reduce_authority(namespace, facts, base), is_damaged)


def _is_damaged(op: AcceptedOp, found: AuthorityState) -> bool:
    """Return whether the facts give other columns of an operation than the stored ones, or no state."""
    row = found.chain.rows.get(op.op_id)
    if row is None or row.outcome == "unreachable":
        return True
    return any(getattr(op, name) != getattr(row.op, name) for name in DERIVED if name != "anchor")


def stored_operation(row: Mapping[str, Any]) -> AcceptedOp:
    """Return an accepted operation from its stored columns: `fact_cbor` and DERIVED."""
    fact = stored_fact(row["fact_cbor"])
    given = {name: row[name] for name in DERIVED} | {name: int(row[name]) for name in _EPOCHLESS}
    return AcceptedOp(fact=fact, attested=attested_of(fact), op_id=fact.op_id or b"", **given)

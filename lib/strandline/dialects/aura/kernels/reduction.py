"""Operations of authorities to their reduced rows, authority by authority, by the plain functions of `reduce`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from strandline.dialects.aura.codec import stored_fact
from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.kernels.judgement import authority_of
from strandline.dialects.aura.kernels.reduced_rows import REDUCED_SCHEMA, reduced_row
from strandline.dialects.aura.kernels.stored import (
    DERIVED,
    REMAINS,
    Remains,
    split_remains,
    stored_operation,
    without_copies,
)
from strandline.dialects.aura.reduce import (
    AuthorityState,
    base_commitment,
    base_state,
    reduce_authority,
    reduce_columns,
)
from strandline.dialects.aura.types import Namespace
from strandline.dialects.aura.verify import EMPTY, AcceptedOp, PrunedOps, State

REDUCTION_COLUMNS: Final = ("namespace", "bucket", "fact_cbor", "is_base", *DERIVED, *REMAINS)


def reduced(batches: Iterable[pa.RecordBatch], *, full: bool) -> Iterator[pa.RecordBatch]:
    """Yield the state and the rows of each authority.

    Reads: REDUCTION_COLUMNS, the rows of a namespace together: all accepted operations, `is_base`: at most one
            snapshot, the one in force, and the remains of pruned operations.
    Gives: REDUCED_SCHEMA, one row per namespace. Memory: the operations of one namespace. An authority without a carry
    has no state. With `full`, or if the stored columns do not give the stored state, all operations are applied.
    `is_damaged`: stored columns differ from those that the facts give. `is_inconsistent`: remains are not complete.
    """
    rows = (_of_group(list(group), full=full) for _, group in by_namespace(batches))
    return in_batches(rows, REDUCED_SCHEMA, 1)


@dataclass(frozen=True, slots=True)
class GivenAuthority:
    """A stored authority: its operations without late copies, the given bases, and its pruned operations."""

    namespace: Namespace
    operations: list[AcceptedOp]
    bases: list[bytes]
    pruned: PrunedOps | None

    def base_of(self, operations: Iterable[AcceptedOp]) -> State | None:
        """Return the state of the base, or None if the operations do not lead to it."""
        known = EMPTY if self.pruned is None else self.pruned.state
        return base_state(operations, self.bases[0], known)

    def by_columns(self) -> AuthorityState | None:
        """Return the reduced authority by the stored columns, or None if they are wrong."""
        base = self.base_of(self.operations) if self.bases else None
        if self.bases and base is None:
            return None
        return reduce_columns(self.namespace, self.operations, base, self.pruned)

    def by_facts(self) -> tuple[AuthorityState, bool]:
        """Return the authority reduced from its facts only, and whether stored columns differ from the facts."""
        facts = [op.fact for op in self.operations]
        found = reduce_authority(self.namespace, facts, None, self.pruned)
        is_damaged = any(_is_damaged(op, found) for op in self.operations)
        if not self.bases:
            return found, is_damaged
        base = self.base_of(row.op for row in found.chain.rows.values())
        if base is None:
            return found, True
        return reduce_authority(self.namespace, facts, base, self.pruned), is_damaged


def given_authority(rows: Iterable[Mapping[str, Any]], remains: Remains) -> GivenAuthority:
    """Return the authority of the rows of a group: its operations, and with `is_base` the snapshot in force."""
    facts = list(rows)
    ops = [stored_operation(row) for row in facts if not row["is_base"]]
    bases = [base_commitment(stored_fact(row["fact_cbor"])) for row in facts if row["is_base"]]
    pruned = remains.pruned(ops)
    if pruned is not None:
        ops = list(without_copies(ops, {skeleton.op_id: skeleton for skeleton in pruned.skeletons}))
    return GivenAuthority(
        Namespace("authority", authority_of(str(facts[0]["namespace"]))), ops, bases, pruned
    )


def _of_group(group: list[dict[str, Any]], *, full: bool) -> dict[str, Any]:
    rows, remains = split_remains(group)
    home = {name: group[0][name] for name in ("namespace", "bucket")}
    if remains.is_lost or not rows:
        return home | {"is_damaged": False, "is_inconsistent": True}
    given = given_authority(rows, remains)
    found = None if full else given.by_columns()
    if found is None:
        found, is_damaged = given.by_facts()
    else:
        is_damaged = found.chain.count("unreachable") > 0
    is_inconsistent = not remains.is_whole(given.operations)
    row = reduced_row(home["bucket"], found, given.operations, is_damaged=is_damaged and not is_inconsistent)
    return row | {"is_inconsistent": is_inconsistent}


def _is_damaged(op: AcceptedOp, found: AuthorityState) -> bool:
    """Return whether the facts give other columns of an operation than the stored ones, or no state."""
    row = found.chain.rows.get(op.op_id)
    if row is None or row.outcome == "unreachable":
        return True
    return any(getattr(op, name) != getattr(row.op, name) for name in DERIVED if name != "anchor")

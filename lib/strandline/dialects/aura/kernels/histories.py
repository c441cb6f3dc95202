"""The histories of authorities, in batches: states that contexts rely on, and bases for pruning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.kernels.snapshots import given_facts, relied_states
from strandline.dialects.aura.kernels.stored import DERIVED, REMAINS, split_remains
from strandline.dialects.aura.reduce import REDUCER, base_commitment, base_state, reduce_authority
from strandline.dialects.aura.reduce.contexts.snapshot_verdicts import SnapshotVerdicts
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots
from strandline.dialects.aura.types import Fact, Namespace
from strandline.dialects.aura.verify import EMPTY, PrunedOps, State

HISTORY_COLUMNS: Final = (
    "namespace", "bucket", "fact_cbor", "known_status", "relied", "known_base", *DERIVED, *REMAINS
)  # fmt: skip
HISTORY_SCHEMA: Final = pa.schema(
    {
        "namespace": pa.string(), "bucket": pa.int32(), "state_hash": pa.binary(), "reducer_version": pa.string(),
        "chain": pa.list_(pa.binary()), "base": pa.binary(), "final": pa.list_(pa.binary()), "base_id": pa.binary(),
    }
)  # fmt: skip
PATH_COLUMNS: Final = ("namespace", "parent_commitment", "new_commitment", *REMAINS)
PATH_SCHEMA: Final = pa.schema({"namespace": pa.string(), "commitment": pa.binary()})
_BATCH: Final = 4096


def histories(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the history of each authority, and its base: the state that the snapshot in force proves, or null.

    Reads: HISTORY_COLUMNS of all accepted operations and snapshots, of what snapshots name, and of the remains of
            pruned operations, the rows of a namespace together; relied: in one row or more, the states by which records
            were pruned; known_base: in all rows of facts, the snapshot that `reduce` knows as the one in force, or
            null. DERIVED and known_status are read only for authorities with remains.
    Gives: HISTORY_SCHEMA, one row per authority: `chain` are the states from its genesis to its tip, `final` those up
            to its base, `base_id` is the snapshot in force if `reduce` knows it. A base that `reduce` does not know
            counts only if it is on the history that follows from the known base: else a fork would be decided here but
            not in the tables. For unpruned authorities no stored column is used. Memory: the facts of one authority.
    """
    return in_batches((_history(list(group)) for _, group in by_namespace(batches)), HISTORY_SCHEMA, 1)


def _history(group: list[dict[str, Any]]) -> dict[str, Any]:
    facts, pruned = given_facts(group)
    namespace = facts[0].namespace
    first = next(row for row in group if row["fact_cbor"] is not None)
    verdicts = SnapshotVerdicts()
    if any(fact.kind == "Snapshot" for fact in facts):
        verdicts = judge_snapshots(namespace, facts, relied=relied_states(group), pruned=pruned)
    in_force, base = verdicts.in_force, verdicts.base
    base_state = _known_base_state(namespace, facts, first["known_base"], verdicts, pruned.operations)
    found = reduce_authority(namespace, facts, base_state, pruned.operations)
    chain = [op.new_commitment for op in found.chain.path]
    if base is not None and base.commitment not in chain:
        base = None
    final = [] if base is None else chain[: chain.index(base.commitment) + 1]
    is_known = base is not None and in_force is not None and in_force.fact_id == first["known_base"]
    return {
        "namespace": namespace.text, "bucket": first["bucket"], "state_hash": found.state_hash,
        "reducer_version": REDUCER, "chain": chain, "base": None if base is None else base.commitment, "final": final,
        "base_id": in_force.fact_id if is_known and in_force is not None else None,
    }  # fmt: skip


def _known_base_state(
    namespace: Namespace,
    facts: Iterable[Fact],
    known_base: bytes | None,
    verdicts: SnapshotVerdicts,
    pruned: PrunedOps | None,
) -> State | None:
    """Return the base that `reduce` has, or None if it has none: the state of the snapshot that it knows."""
    if verdicts.in_force is not None and verdicts.in_force.fact_id == known_base:
        return verdicts.base
    known = next((fact for fact in facts if fact.fact_id == known_base and fact.kind == "Snapshot"), None)
    if known is None:
        return None
    rows = reduce_authority(namespace, facts, None, pruned).chain.rows.values()
    start = EMPTY if pruned is None else pruned.state
    return base_state((row.op for row in rows), base_commitment(known), start)


def pruned_paths(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the states on the chain of each authority that pruned operations made.

    Reads: PATH_COLUMNS, the rows of a namespace together: held operations that are applied, and skeletons.
    Gives: PATH_SCHEMA, one row per such state. Damaged skeletons lead to none.
    """
    rows = (
        {"namespace": namespace, "commitment": commitment}
        for namespace, group in by_namespace(batches)
        for commitment in _path(list(group))
    )
    return in_batches(rows, PATH_SCHEMA, _BATCH)


def _path(group: list[dict[str, Any]]) -> Iterator[bytes]:
    held, remains = split_remains(group)
    parents = {skeleton.new_commitment: skeleton.parent_commitment for skeleton in remains.skeletons.values()}
    for row in held:
        commitment = row["parent_commitment"]
        while (parent := parents.pop(commitment, None)) is not None:
            yield commitment
            commitment = parent

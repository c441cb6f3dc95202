"""Snapshot facts to their statuses, namespace by namespace, by the plain functions of `reduce`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import pyarrow as pa

from strandline.dialects.aura.codec import fact_without_times
from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.kernels.judgement import U64
from strandline.dialects.aura.kernels.stored import DERIVED, REMAINS, split_remains, stored_operation
from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.reduce.contexts import AuthorityChain
from strandline.dialects.aura.reduce.contexts.forks import snapshot_forks, state_inputs
from strandline.dialects.aura.reduce.contexts.snapshot_verdicts import PrunedHere, SnapshotVerdicts
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots
from strandline.dialects.aura.types import ZERO, Fact, Namespace
from strandline.dialects.aura.verify import PrunedOps
from strandline.kernels.equivocations import NESTED_FIELDS

SNAPSHOT_INPUT_COLUMNS: Final = (
    "namespace", "bucket", "fact_cbor", "known_status", "relied", "authority", "commitment", *DERIVED, *REMAINS
)  # fmt: skip
_STATUS: Final = (
    pa.field("snapshot_id", pa.binary()), pa.field("status", pa.string()), pa.field("sequence", U64),
    pa.field("state_hash", pa.binary()), pa.field("record_count", pa.int64()),
)  # fmt: skip
JUDGED_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()), pa.field("bucket", pa.int32()),
        pa.field("statuses", pa.list_(pa.struct(_STATUS))), pa.field("forks", pa.list_(pa.struct(NESTED_FIELDS))),
    ]
)  # fmt: skip


def judged_snapshots(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the statuses of the Snapshot facts of each namespace, and of an authority the fork of sound ones.

    Reads: SNAPSHOT_INPUT_COLUMNS, the rows of a namespace together, each of one of three kinds. `fact_cbor`: an
            accepted fact, of a Snapshot with `known_status`, the stored one or null, of an authority in one row or more
            with `relied`, the states that collections relied on. `authority` and `commitment`: a state on the chain of
            a member. `pruned_id`: a pruned fact, at least one where there is any. Of an authority all remains, and with
            these DERIVED of its operations.
    Gives: JUDGED_SCHEMA, one row per namespace; memory is that of the facts that its snapshots name.
    """
    return in_batches((_judged(list(group)) for _, group in by_namespace(batches)), JUDGED_SCHEMA, 1)


def _judged(group: list[dict[str, Any]]) -> dict[str, Any]:
    facts, pruned = given_facts(group)
    namespace = facts[0].namespace
    verdicts = judge_snapshots(namespace, facts, _chains(group), relied_states(group), pruned)
    snapshots = sorted((fact for fact in facts if fact.kind == "Snapshot"), key=lambda fact: fact.fact_id)
    return {
        "namespace": namespace.text, "bucket": group[0]["bucket"],
        "statuses": [_status(fact, verdicts) for fact in snapshots],
        "forks": _forks(namespace, facts, verdicts, pruned.operations),
    }  # fmt: skip


def relied_states(group: Iterable[dict[str, Any]]) -> Iterable[bytes]:
    """Return the states that collections relied on: some rows of a group list all of them, the others have null."""
    return next((row["relied"] for row in group if row["relied"] is not None), ())


def given_facts(group: list[dict[str, Any]]) -> tuple[list[Fact], PrunedHere]:
    """Return the facts of a group, and what was pruned of its namespace.

    Reads: fact_cbor, known_status, *DERIVED, *REMAINS.
    """
    stored = [row for row in group if row["fact_cbor"] is not None]
    facts = [fact_without_times(row["fact_cbor"]) for row in stored]
    pairs = zip(facts, stored, strict=True)
    known = {fact.fact_id: row["known_status"] for fact, row in pairs if row["known_status"] is not None}
    pruned_ids = frozenset(row["pruned_id"] for row in group if row["pruned_id"] is not None)
    if not pruned_ids or facts[0].namespace.kind == "context":
        return facts, PrunedHere(pruned_ids, known)
    rows, remains = split_remains(group)
    operations = remains.pruned(stored_operation(row) for row in rows if row["height"] is not None)
    return facts, PrunedHere(pruned_ids, known, operations)


def _chains(group: list[dict[str, Any]]) -> dict[bytes, AuthorityChain]:
    """Return the given states by authority; no tip is among the columns, and no state hash depends on it."""
    states: dict[bytes, set[bytes]] = {}
    for row in group:
        if row["authority"] is not None:
            states.setdefault(UUID(row["authority"]).bytes, set()).add(row["commitment"])
    return {authority: AuthorityChain(ZERO, frozenset(found)) for authority, found in states.items()}


def _status(fact: Fact, verdicts: SnapshotVerdicts) -> dict[str, Any]:
    return {
        "snapshot_id": fact.fact_id, "status": verdicts.statuses[fact.fact_id],
        "sequence": Decimal(fact.content["sequence"]), "state_hash": fact.content["state_hash"],
        "record_count": verdicts.covered.get(fact.fact_id, 0),
    }  # fmt: skip


def _forks(
    namespace: Namespace, facts: list[Fact], verdicts: SnapshotVerdicts, pruned: PrunedOps | None
) -> list[dict[str, Any]]:
    if len(verdicts.branches) < 2:
        return []
    rows = reduce_authority(namespace, facts, None, pruned).chain.rows.values()
    hashed = state_inputs((row.op for row in rows), None if pruned is None else pruned.state)
    inputs = {(namespace.id, state): data for state, data in hashed.items()}
    return [
        {name: value for name, value in asdict(fork).items() if name != "namespace"}
        for fork in snapshot_forks(namespace, verdicts, inputs)
    ]

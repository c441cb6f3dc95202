"""The prunable operations of an authority, and the proof that pruning them changes no result.

The base, the state that the snapshot in force proves, decides every fork before it. So operations far below it no
longer affect the state. Their skeletons keep their states known and their forks counted.
"""

from collections.abc import Iterable
from typing import Final

from strandline.core.pruning import (
    DEFAULT_SKIP_WINDOW,
    Member,
    Plan,
    Proof,
    compare_rows,
    compute_checkpoint_pruning_boundary,
)
from strandline.dialects.aura.reduce.authority import AuthorityState, reduce_columns
from strandline.dialects.aura.reduce.forks import forks
from strandline.dialects.aura.reduce.skeletons import (
    decode_op_skeleton,
    decode_state_carry,
    encode_op_skeleton,
    encode_state_carry,
    skeleton_of,
    unbuilt_ops,
)
from strandline.dialects.aura.reduce.state import state_cbor
from strandline.dialects.aura.types import ZERO, Fact, Namespace
from strandline.dialects.aura.verify import AcceptedOp, PrunedOps, State

_RECEIPT: Final = "RendezvousReceipt"


def plan_authority(
    namespace: Namespace,
    operations: Iterable[AcceptedOp],
    others: Iterable[Fact] = (),
    base: State | None = None,
    pruned: PrunedOps | None = None,
    skip_window: int = DEFAULT_SKIP_WINDOW,
) -> Plan:
    """Return which stored operations of an authority are prunable, each with all its facts, and the carry after that.

    `others` are its other facts; `base` is the state that a snapshot in force proves, None without one; `pruned` are
    the operations pruned before. A copy of a pruned operation is always prunable. For other operations the first rule
    (hold) that applies keeps all facts of the operation:
    - `KIND_KEPT`: it is the genesis, or no operation;
    - `NO_BASE`: no snapshot is in force;
    - `ABOVE_BASE`: it makes the base, or a state that descends from it;
    - `RECEIPT_REFERENCE`: a receipt names one of its facts, or a copy of it;
    - `WINDOW`: the height of the state that it makes is not below the boundary of that of the base.
    """
    held, rest = list(operations), list(others)
    copied = {skeleton.op_id for skeleton in pruned.skeletons} if pruned else set()
    above = _descendants(held, base)
    envelopes = {fact.content["envelope_id"] for fact in rest if fact.kind == _RECEIPT}
    named = {op.op_id for op in held if not envelopes.isdisjoint((op.fact.fact_id, op.fact.body_id))}
    limit = 0 if base is None else compute_checkpoint_pruning_boundary(base.height, skip_window)

    def hold(op: AcceptedOp) -> str | None:
        if op.op_id in copied:
            return None
        if op.parent_commitment == ZERO:
            return "KIND_KEPT"
        if base is None:
            return "NO_BASE"
        if op.new_commitment in above:
            return "ABOVE_BASE"
        if op.op_id in named:
            return "RECEIPT_REFERENCE"
        return None if op.height < limit else "WINDOW"

    members = [_member(op.fact, hold(op), op) for op in held] + [_member(fact, "KIND_KEPT") for fact in rest]
    stays = base or (pruned.state if pruned else None)
    is_carried = copied or any(each.hold is None for each in members)
    carry = None if stays is None or not is_carried else state_cbor(namespace, stays)
    return Plan(tuple(sorted(members, key=lambda each: each.record_id)), encode_state_carry(carry))


def prove_authority(
    namespace: Namespace,
    operations: Iterable[AcceptedOp],
    base: State | None,
    plan: Plan,
    pruned: PrunedOps | None = None,
) -> Proof:
    """Reduce an authority from all stored operations and from those that the plan keeps; compare states and rows.

    Rows of prunable operations are left out, since they are deleted, too; so is evidence that shows one, since it stays
    as it is.
    """
    held = list(operations)
    chosen = {each.record_id: each for each in plan.prune}
    after = pruned_after(held, plan, pruned)
    before = reduce_columns(namespace, held, base, pruned)
    kept = [op for op in held if op.fact.fact_id not in chosen]
    rest = reduce_columns(namespace, kept, base, after)
    if before is None or rest is None:
        return Proof(b"", b"", ("authority_state",))
    left_out = {op.op_id for op in held if op.fact.fact_id in chosen}
    rows, new = reduced_rows(before, left_out), reduced_rows(rest, left_out)
    return Proof(before.state_hash, rest.state_hash, compare_rows(rows, new))


def pruned_after(held: Iterable[AcceptedOp], plan: Plan, pruned: PrunedOps | None) -> PrunedOps | None:
    """Return the pruned operations after a plan is carried out, as stored: skeletons and carry."""
    state = decode_state_carry(plan.carry)
    if state is None:
        return None
    skeletons = {skeleton.op_id: skeleton for skeleton in (pruned.skeletons if pruned else ())}
    for each in plan.prune:
        if each.skeleton is not None:
            skeleton = decode_op_skeleton(each.skeleton)
            skeletons[skeleton.op_id] = skeleton
    chosen = {each.record_id for each in plan.prune}
    kept = [op for op in held if op.fact.fact_id not in chosen]
    return PrunedOps(tuple(skeletons.values()), state, unbuilt_ops(kept, skeletons.values(), state))


def reduced_rows(found: AuthorityState, left_out: Iterable[bytes]) -> dict[str, dict[str, object]]:
    """Return the rows of the reduced tables of an authority by table and key, without those of some operations."""
    chain, omitted = found.chain, frozenset(left_out)
    shown = {op.fact.fact_id: op.op_id for ops in chain.forks.values() for op in ops}
    evidence = {each.equivocation_id.hex(): each for each in forks(found.namespace, chain)}
    return {
        "authority_state": {
            "": (
                found.state_cbor, *(chain.count(each) for each in ("applied", "superseded", "orphaned")),
                chain.fork_count,
            )
        },
        "attested_op": {
            op_id.hex(): row for op_id, row in chain.rows.items() if op_id not in omitted
        },
        "equivocation": {
            key: each for key, each in evidence.items() if omitted.isdisjoint(shown[id_] for id_ in each.members)
        },
    }  # fmt: skip


def _descendants(operations: Iterable[AcceptedOp], base: State | None) -> frozenset[bytes]:
    """Return the base and the states that descend from it."""
    if base is None:
        return frozenset()
    children: dict[bytes, list[bytes]] = {}
    for op in operations:
        children.setdefault(op.parent_commitment, []).append(op.new_commitment)
    found, waiting = {base.commitment}, [base.commitment]
    while waiting:
        for commitment in children.pop(waiting.pop(), ()):
            found.add(commitment)
            waiting.append(commitment)
    return frozenset(found)


def _member(fact: Fact, hold: str | None, op: AcceptedOp | None = None) -> Member:
    return Member(
        record_id=fact.fact_id,
        kind=fact.variant,
        generation=None if op is None else op.height,
        hold=hold,
        alt_id=fact.body_id,
        skeleton=None if hold is not None or op is None else encode_op_skeleton(skeleton_of(op)),
    )

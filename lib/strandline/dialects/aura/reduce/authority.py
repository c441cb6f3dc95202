"""The state of an authority from its operations: by the stored columns, or by applying every operation again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from strandline.core.verdict import Finding
from strandline.dialects.aura.reduce.base import base_state
from strandline.dialects.aura.reduce.chain import Chain, chain_of
from strandline.dialects.aura.reduce.journal import ContextAsAuthority
from strandline.dialects.aura.reduce.state import state_cbor, state_hash
from strandline.dialects.aura.types import Fact, Namespace
from strandline.dialects.aura.verify import (
    EMPTY,
    AcceptedOp,
    Draft,
    PrunedOps,
    State,
    Walk,
    accepted_op,
    attested_of,
    check_attested_op,
    signers_of,
    state_after,
)


@dataclass(frozen=True, slots=True)
class TreeStateSummary:
    """What peers compare of an authority. `device_count`: active leaves that are devices."""

    epoch: int
    commitment: bytes
    threshold: int
    device_count: int


@dataclass(frozen=True)
class AuthorityState:
    """The reduced state of an authority, and the outcome of each of its operations.

    `invalid` has the reasons of operations that only a damaged table can contain, by fact id.
    """

    namespace: Namespace
    state: State
    chain: Chain
    invalid: Mapping[bytes, tuple[Finding, ...]] = field(default_factory=dict)

    @property
    def tree_state(self) -> TreeStateSummary:
        """The summary of the tree."""
        devices = sum(leaf.role == "Device" for leaf in self.state.leaves.values())
        return TreeStateSummary(self.state.epoch, self.state.commitment, self.state.threshold, devices)

    @cached_property
    def state_cbor(self) -> bytes:
        """Canonical encoding of the state."""
        return state_cbor(self.namespace, self.state)

    @property
    def state_hash(self) -> bytes:
        """State hash of the namespace, 32 bytes."""
        return state_hash(self.state_cbor)


def reduce_columns(
    namespace: Namespace,
    operations: Iterable[AcceptedOp],
    base: State | None = None,
    pruned: PrunedOps | None = None,
) -> AuthorityState | None:
    """Return the state by the stored commitments, or None if that of the tip is wrong.

    Folds the leaves along the chain and computes one tree, that of the tip. `base` is the state of the snapshot in
    force. For the fast path it is the stored state, and only the operations after it are given. `pruned` are the pruned
    operations; their carried state is the base if no other one is given.
    """
    start = _start(base, pruned)
    chain = chain_of(operations, start, () if pruned is None else pruned.skeletons)
    state = EMPTY if start is None else start
    placed = chain.path
    if start is not None:
        ends = [at for at, op in enumerate(placed, 1) if op.new_commitment == start.commitment]
        placed = placed[ends[0] :] if ends else placed
    path = [op for op in placed if isinstance(op, AcceptedOp)]
    if len(path) < len(placed):
        return None
    try:
        draft = Draft(state)
        for op in path:
            draft.apply(op.attested.op, op.op_id)
        if path:
            state = draft.committed(None, range(0))
    except (KeyError, OverflowError):
        return None
    if path and state.commitment != path[-1].new_commitment:
        return None
    return AuthorityState(namespace, state, chain)


def reduce_authority(
    namespace: Namespace, facts: Iterable[Fact], base: State | None = None, pruned: PrunedOps | None = None
) -> AuthorityState:
    """Return the state of an authority from its accepted facts: the reference.

    Every operation is applied again on every branch. Of stored values only the signatures are trusted. An operation
    that does not fit its parent state is invalid: it never wins, and never blocks a valid sibling. Facts that are no
    operations do not enter the state. For `base`, the state of the snapshot in force, see `chain_of`. `pruned` are the
    pruned operations: their carried state is the base if no other one is given. Operations on states that cannot be
    built are taken as stored.

    Raises:
        ContextAsAuthority: the namespace is a context.
    """
    if namespace.kind == "context":
        raise ContextAsAuthority(namespace)
    start = _start(base, pruned)
    skeletons = () if pruned is None else pruned.skeletons
    unbuilt = {} if pruned is None else pruned.unbuilt
    copies = {skeleton.op_id for skeleton in skeletons}
    built = (fact for fact in facts if fact.fact_id not in unbuilt and fact.op_id not in copies)
    given = (EMPTY, start, None if pruned is None else pruned.state)
    known = {state.commitment: state for state in given if state is not None}
    operations, invalid = _replayed(built, known)
    chain = chain_of([*operations, *unbuilt.values()], start, skeletons)
    reached = known.keys() | {op.new_commitment for op in operations}
    # Damaged skeletons may claim to follow the tip: then the last state that can be built is the state.
    path = [each.new_commitment for each in chain.path if each.new_commitment in reached]
    tip = path[-1] if path else (EMPTY if start is None else start).commitment
    state = next(filter(None, (base_state(operations, tip, each) for each in known.values())))
    return AuthorityState(namespace, state, chain, invalid)


def _start(base: State | None, pruned: PrunedOps | None) -> State | None:
    """Return the state that the walk must pass: the base, or the one that operations were pruned by."""
    return pruned.state if base is None and pruned is not None else base


def _replayed(
    facts: Iterable[Fact], known: dict[bytes, State]
) -> tuple[list[AcceptedOp], dict[bytes, tuple[Finding, ...]]]:
    """Apply the operations on all states that can be reached: those that fit, and why others do not.

    The walk is that of `Walk`: however operations fork, few states are held.
    """
    children: dict[bytes, list[Fact]] = {}
    for fact in facts:
        if fact.attested is not None:
            children.setdefault(fact.attested.op.parent_commitment, []).append(fact)
    operations: list[AcceptedOp] = []
    invalid: dict[bytes, tuple[Finding, ...]] = {}
    for start in reversed(known.values()):
        walk = Walk(start)
        for parent in walk.states():
            followed = set(known)
            for fact in children.pop(parent.commitment, ()):
                findings = _misfit(fact, parent)
                if findings:
                    invalid[fact.fact_id] = findings
                    continue
                state = state_after(parent, fact)
                operations.append(accepted_op(fact, signers_of(fact, parent), state))
                if state.commitment in children and state.commitment not in followed:
                    followed.add(state.commitment)
                    walk.follow(attested_of(fact).op, state)
    return operations, invalid


def _misfit(fact: Fact, parent: State) -> tuple[Finding, ...]:
    if fact.attested is None:
        return ()
    op = fact.attested.op
    found = check_attested_op(parent, op)
    if op.parent_epoch != parent.epoch:
        found.append(
            Finding("EPOCH_MISMATCH", {"expected": str(parent.epoch), "actual": str(op.parent_epoch)})
        )
    return tuple(found)

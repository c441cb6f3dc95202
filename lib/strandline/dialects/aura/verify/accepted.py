"""Operations before and after their verdict: unread, judged, and accepted with the columns of their states."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from strandline.core.judgement import Verdict
from strandline.dialects.aura.codec import fact_without_times
from strandline.dialects.aura.types import AttestedOp, Fact, Genesis
from strandline.dialects.aura.verify.operations import Signers
from strandline.dialects.aura.verify.states import State

Anchor: TypeAlias = Literal["self", "pin"]


@dataclass(frozen=True, slots=True)
class AcceptedOp:
    """An accepted operation with the columns of its parent state and of the state that it makes.

    `group_key` verified the signature; `witness_threshold` is how many signers the parent state required. `anchor` says
    why a genesis is that of the namespace: its id derives from it (`self`), or somebody vouched for it (`pin`).
    """

    fact: Fact
    attested: AttestedOp
    op_id: bytes
    group_key: bytes
    witness_threshold: int
    anchor: Anchor | None
    height: int
    new_epoch: int
    new_commitment: bytes
    new_tree_commitment: bytes
    new_group_key: bytes
    new_threshold: int
    new_min_signers: int
    new_max_signers: int

    @property
    def parent_commitment(self) -> bytes:
        """The commitment of the state that it follows."""
        return self.attested.op.parent_commitment


@dataclass(frozen=True, slots=True)
class OpSkeleton:
    """The skeleton of a pruned operation: its place in the history, the key of the state that it made, its signers."""

    op_id: bytes
    parent_commitment: bytes
    parent_epoch: int
    new_commitment: bytes
    new_epoch: int
    height: int
    new_group_key: bytes
    signer_count: int


PlacedOp: TypeAlias = AcceptedOp | OpSkeleton
"""An operation with a place in the history: held, or pruned."""


@dataclass(frozen=True, slots=True)
class PrunedOps:
    """The pruned operations of an authority: their skeletons, and the state that the applied snapshot relied on.

    `unbuilt` are the kept operations, by fact id, on states that cannot be built: of them only the stored columns are
    known.
    """

    skeletons: tuple[OpSkeleton, ...]
    state: State
    unbuilt: Mapping[bytes, AcceptedOp] = field(default_factory=dict)

    def states(self) -> Iterator[PlacedOp]:
        """Yield the operations or skeletons whose states are known but cannot be built."""
        yield from self.skeletons
        yield from self.unbuilt.values()


@dataclass(frozen=True, slots=True)
class UnreadOp:
    """The fact of an operation as bytes; it is parsed when its parent state is known, since bytes take little memory.

    The bytes are those of a fact with this id, an operation on the state with this commitment.
    """

    fact_id: bytes
    parent_commitment: bytes
    cbor: bytes

    def read(self) -> Fact:
        """Return the fact without its times.

        Raises:
            ValueError: the bytes are none.
        """
        return fact_without_times(self.cbor)


GivenOp: TypeAlias = Fact | UnreadOp


@dataclass(frozen=True, slots=True)
class JudgedOp:
    """The verdict on one candidate, None if it was accepted before; the operation, if it is accepted."""

    fact_id: bytes
    verdict: Verdict | None
    op: AcceptedOp | None = None


def attested_of(fact: Fact) -> AttestedOp:
    """Return the operation of a fact.

    Raises:
        ValueError: it has none.
    """
    if fact.attested is None:
        raise ValueError("the fact is no operation")
    return fact.attested


def accepted_op(fact: Fact, signers: Signers, state: State, anchor: Anchor | None = None) -> AcceptedOp:
    """Return an operation that these signers signed and that makes `state`, with its derived values."""
    attested, key = attested_of(fact), state.key
    if key is None:
        raise ValueError("every operation makes a state with a key")
    return AcceptedOp(
        fact=fact,
        attested=attested,
        op_id=state.op_id,
        group_key=signers.key.group_key,
        witness_threshold=signers.required,
        anchor=anchor if isinstance(attested.op.operation, Genesis) else None,
        height=state.height,
        new_epoch=state.epoch,
        new_commitment=state.commitment,
        new_tree_commitment=state.tree_commitment,
        new_group_key=key.group_key,
        new_threshold=state.threshold,
        new_min_signers=key.min_signers,
        new_max_signers=key.max_signers,
    )

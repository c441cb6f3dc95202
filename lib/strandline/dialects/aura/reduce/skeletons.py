"""The remains of pruned operations of an authority: a skeleton of each, and the state of the base as the carry.

A skeleton takes the place of its operation in the history: its state stays known, and its forks stay counted. The tree
of a state that only skeletons lead to cannot be built again.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from strandline.core.encoding.strict_cbor import CborRefused, encode_cbor, strict_cbor
from strandline.core.errors import FaultError
from strandline.core.pruning import MAX_GENERATION
from strandline.dialects.aura.reduce.state import parse_state
from strandline.dialects.aura.types import DIGEST_BYTES, ZERO
from strandline.dialects.aura.verify import AcceptedOp, OpSkeleton, PlacedOp, State

_VERSION: Final = 1
_NESTING: Final = 4
_KEY_BYTES: Final = 32
_MOST_SIGNERS: Final = 2**16 - 1


def skeleton_of(op: AcceptedOp) -> OpSkeleton:
    """Return the skeleton of an operation."""
    tree_op = op.attested.op
    return OpSkeleton(
        op.op_id, tree_op.parent_commitment, tree_op.parent_epoch, op.new_commitment, op.new_epoch, op.height,
        op.new_group_key, op.attested.signer_count,
    )  # fmt: skip


def encode_op_skeleton(skeleton: OpSkeleton) -> bytes:
    """Return a skeleton as stored."""
    return encode_cbor(
        [
            skeleton.op_id, skeleton.parent_commitment, skeleton.parent_epoch, skeleton.new_commitment,
            skeleton.new_epoch, skeleton.height, skeleton.new_group_key, skeleton.signer_count,
        ]
    )  # fmt: skip


def decode_op_skeleton(raw: bytes) -> OpSkeleton:
    """Return the skeleton in stored bytes.

    Raises:
        ValueError: the bytes are not a skeleton.
    """
    match _decoded(raw):
        case [
            bytes(op_id), bytes(parent), parent_epoch, bytes(made), new_epoch, height, bytes(key), signers
        ] if (
            len(op_id) == len(parent) == len(made) == DIGEST_BYTES
            and len(key) == _KEY_BYTES
            and all(type(each) is int for each in (parent_epoch, new_epoch, height, signers))
            and all(0 <= each <= MAX_GENERATION for each in (parent_epoch, new_epoch, height))
            and 0 <= signers <= _MOST_SIGNERS
        ):  # fmt: skip
            return OpSkeleton(op_id, parent, parent_epoch, made, new_epoch, height, key, signers)
    raise ValueError("a skeleton of an operation must be its place, its key and its number of signers")


def encode_state_carry(state_cbor: bytes | None) -> bytes:
    """Return the carry of an authority: the encoded state of its base, or the carry without pruned operations."""
    return encode_cbor({"v": _VERSION} if state_cbor is None else {"v": _VERSION, "state": state_cbor})


def decode_state_carry(raw: bytes) -> State | None:
    """Return the state in a stored carry; None if nothing is pruned.

    Raises:
        ValueError: the bytes are not a carry, or not of a state with the commitment that it states.
    """
    value = _decoded(raw)
    if not isinstance(value, dict) or value.get("v") != _VERSION or value.keys() - {"v", "state"}:
        raise ValueError("a carry must be a map of version 1")
    if "state" not in value:
        return None
    try:
        return parse_state(value["state"])
    except (FaultError, TypeError):
        raise ValueError("the state of a carry must have its own commitment") from None


def do_fit(skeletons: Iterable[OpSkeleton], operations: Iterable[AcceptedOp], state: State) -> bool:
    """Return whether skeletons, stored operations and the carried state contradict each other in no place of one
    history.

    An operation that is stored, or its skeleton, made every state that a skeleton follows, and the carried state, with
    the stated height, epoch and key. No skeleton follows the carried state. Values that no other record shows are taken
    as stored.
    """
    makers: dict[bytes, PlacedOp] = {op.new_commitment: op for op in operations}
    placed = tuple(skeletons)
    makers |= {skeleton.new_commitment: skeleton for skeleton in placed}
    for op in makers.values():
        if op.parent_commitment == ZERO:
            continue
        maker = makers.get(op.parent_commitment)
        if isinstance(op, OpSkeleton):
            if maker is None or (maker.new_epoch, maker.height + 1) != (op.parent_epoch, op.height):
                return False
        elif isinstance(maker, OpSkeleton) and (maker.new_group_key, maker.height + 1) != (
            op.group_key,
            op.height,
        ):
            return False
    last = makers.get(state.commitment)
    key = b"" if state.key is None else state.key.group_key
    stated = (state.op_id, state.epoch, state.height, key)
    if last is None or (last.op_id, last.new_epoch, last.height, last.new_group_key) != stated:
        return False
    return not any(isinstance(op, OpSkeleton) for op in _after(state.commitment, makers.values()))


def _after(commitment: bytes, operations: Iterable[PlacedOp]) -> Iterator[PlacedOp]:
    """Yield the operations that descend from a state."""
    children: dict[bytes, list[PlacedOp]] = {}
    for op in operations:
        children.setdefault(op.parent_commitment, []).append(op)
    waiting = [commitment]
    while waiting:
        for op in children.pop(waiting.pop(), ()):
            yield op
            waiting.append(op.new_commitment)


def unbuilt_ops(
    operations: Iterable[AcceptedOp], skeletons: Iterable[OpSkeleton], state: State
) -> dict[bytes, AcceptedOp]:
    """Return operations by fact id on states that cannot be built: they follow a skeleton, not the carried state."""
    children: dict[bytes, list[AcceptedOp]] = {}
    for op in operations:
        children.setdefault(op.parent_commitment, []).append(op)
    waiting = [skeleton.new_commitment for skeleton in skeletons]
    found: dict[bytes, AcceptedOp] = {}
    while waiting:
        commitment = waiting.pop()
        if commitment == state.commitment:
            continue
        for op in children.pop(commitment, ()):
            found[op.fact.fact_id] = op
            waiting.append(op.new_commitment)
    return found


def _decoded(raw: bytes) -> Any:
    try:
        return strict_cbor(raw, tags=frozenset(), floats=("none",), nesting=_NESTING).value
    except CborRefused:
        raise ValueError("what remains of pruned operations must be canonical CBOR") from None

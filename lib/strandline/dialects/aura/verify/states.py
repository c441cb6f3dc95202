"""States of an authority: what each operation makes of the state before it, and what it requires of it."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from strandline.core.hashing import tagged
from strandline.core.verdict import Evidence, Finding
from strandline.dialects.aura.types import (
    ANY,
    MAX_EPOCH,
    MAX_LEAVES,
    SUITE,
    ZERO,
    AddLeaf,
    ChangePolicy,
    Genesis,
    KeyRecord,
    LeafNode,
    Policy,
    RekeyLeaf,
    RemoveLeaf,
    RotateEpoch,
    TreeOp,
)
from strandline.dialects.aura.verify.policies import is_stricter, required_signers, threshold
from strandline.dialects.aura.verify.tree import Tree, full_tree, node_count, policy_hash, updated_tree

_NO_KEY: Final = KeyRecord(ZERO, 0, 0)
_EMPTY_TREE: Final = Tree(0, 1, ())


@dataclass(frozen=True, slots=True)
class State:
    """The state of an authority after `height` operations; that of an authority without a genesis is empty.

    `leaves` are the active ones by ascending id. `key_epoch` is the epoch in which the key entered. `op_id` is the last
    operation. The three digests of the empty state are zero bytes.
    """

    epoch: int = 0
    policy: Policy = ANY
    key: KeyRecord | None = None
    key_epoch: int = 0
    suite: int = SUITE
    leaves: Mapping[int, LeafNode] = field(default_factory=dict, repr=False)
    next_leaf_id: int = 0
    height: int = 0
    op_id: bytes = field(default=ZERO, repr=False)
    tree: Tree = field(default=_EMPTY_TREE, repr=False, compare=False)
    tree_commitment: bytes = field(default=ZERO, repr=False)
    commitment: bytes = ZERO

    @property
    def threshold(self) -> int:
        """How many leaves the policy asks for."""
        return threshold(self.policy, len(self.leaves))

    @property
    def required(self) -> int:
        """How many signers the next operation needs; 0 without a key."""
        return 0 if self.key is None else required_signers(self.key, self.policy, len(self.leaves))

    @property
    def is_key_below_policy(self) -> bool:
        """Whether the policy asks for more signers than the key proves."""
        return self.key is not None and self.key.min_signers < self.threshold


EMPTY: Final = State()


def state_commitment_input(state: State) -> bytes:
    """Return what the commitment of a state hashes after its tag: operation, tree, epoch, key and policy."""
    key = state.key or _NO_KEY
    return b"".join(
        (
            state.op_id,
            state.tree_commitment,
            state.epoch.to_bytes(8, "little"),
            key.group_key,
            key.min_signers.to_bytes(2, "little"),
            key.max_signers.to_bytes(2, "little"),
            policy_hash(state.policy),
        )
    )


def state_commitment(state: State) -> bytes:
    """Return the commitment of a state, 32 bytes; the operation in it makes states form a tree."""
    return tagged("strandline/aura/state/1", state_commitment_input(state))


def apply_op(state: State, op: TreeOp, op_id: bytes) -> State:
    """Return the state that an operation makes, with its tree and its commitment computed bottom-up.

    The operation must pass `check_attested_op`.
    """
    changed, positions = _changed(state, op)
    changed = replace(changed, height=state.height + 1, op_id=op_id)
    return committed(changed, state.tree, positions)


def committed(state: State, before: Tree | None, changed: range) -> State:
    """Return the state with the tree of its leaves and its commitment; `changed` as in `updated_tree`."""
    leaves = list(state.leaves.values())
    if before is None:
        tree = full_tree(leaves, state.epoch, state.threshold)
    else:
        tree = updated_tree(before, leaves, state.epoch, state.threshold, changed)
    with_tree = replace(state, tree=tree, tree_commitment=tree.commitment())
    return replace(with_tree, commitment=state_commitment(with_tree))


def folded(state: State, op: TreeOp, op_id: bytes) -> State:
    """Return the state of `apply_op` without its digests: for chains whose commitments are stored."""
    return replace(_changed(state, op)[0], height=state.height + 1, op_id=op_id)


def _changed(state: State, op: TreeOp) -> tuple[State, range]:
    """Return the state with the effect of an operation, and the positions of leaves that changed."""
    operation = op.operation
    match operation:
        case Genesis():
            found = replace(state, suite=operation.suite, policy=operation.policy, key=operation.key)
            return found, range(0)
        case AddLeaf():
            leaves = {**state.leaves, operation.leaf.leaf_id: operation.leaf}
            found = replace(state, leaves=leaves, next_leaf_id=state.next_leaf_id + 1)
            return found, range(len(leaves) - 1, len(leaves))
        case RemoveLeaf():
            at = _position(state, operation.leaf)
            leaves = {name: leaf for name, leaf in state.leaves.items() if name != operation.leaf}
            return replace(state, leaves=leaves), range(at, len(state.leaves))
        case RekeyLeaf():
            at = _position(state, operation.leaf)
            leaf = replace(state.leaves[operation.leaf], public_key=operation.public_key)
            return replace(state, leaves={**state.leaves, operation.leaf: leaf}), range(at, at + 1)
        case ChangePolicy():
            return replace(state, policy=operation.new_policy), range(0)
        case RotateEpoch():
            found = replace(state, epoch=state.epoch + 1)
            if operation.key is not None:
                found = replace(found, key=operation.key, key_epoch=found.epoch)
            return found, range(0)


def _position(state: State, leaf_id: int) -> int:
    return bisect_left(list(state.leaves), leaf_id)


def check_attested_op(state: State, op: TreeOp) -> list[Finding]:
    """Return why an operation does not fit the state that it follows; nothing if it does.

    These hold, each with its code:
    - a new leaf has the next id (`LEAF_ID_NOT_NEXT`), an existing node above it (`NODE_UNKNOWN`), the key of no active
      leaf (`LEAF_KEY_DUPLICATE`), and there are fewer than 4,096 (`LEAF_LIMIT`);
    - a removed or changed leaf is active (`LEAF_UNKNOWN`); its new key is that of no active leaf, itself included;
    - a policy belongs to the root (`NODE_NOT_ROOT`) and is as strict as the one before, or stricter
      (`POLICY_NOT_STRICTER`);
    - a rotation names nodes that exist (`NODE_UNKNOWN`), and the epoch can grow (`EPOCH_OVERFLOW`).
    """
    return [Finding(code, evidence) for code, evidence in _misfits(state, op)]


def _misfits(state: State, op: TreeOp) -> list[tuple[str, Evidence]]:
    found: list[tuple[str, Evidence]] = []
    nodes = node_count(len(state.leaves))
    operation = op.operation
    match operation:
        case AddLeaf():
            leaf = operation.leaf
            if leaf.leaf_id != state.next_leaf_id:
                found.append(("LEAF_ID_NOT_NEXT", {"expected": state.next_leaf_id, "actual": leaf.leaf_id}))
            if operation.under >= nodes:
                found.append(("NODE_UNKNOWN", {"expected": f"below {nodes}", "actual": operation.under}))
            if len(state.leaves) >= MAX_LEAVES:
                found.append(("LEAF_LIMIT", {"expected": MAX_LEAVES}))
            found += _duplicates(state, leaf.public_key)
        case RemoveLeaf():
            found += _unknown(state, operation.leaf)
        case RekeyLeaf():
            found += _unknown(state, operation.leaf) + _duplicates(state, operation.public_key)
        case ChangePolicy():
            if operation.node:
                found.append(("NODE_NOT_ROOT", {"expected": 0, "actual": operation.node}))
            if is_stricter(state.policy, operation.new_policy):
                policies = {"expected": str(state.policy), "actual": str(operation.new_policy)}
                found.append(("POLICY_NOT_STRICTER", policies))
        case RotateEpoch():
            if operation.affected and operation.affected[-1] >= nodes:
                found.append(
                    ("NODE_UNKNOWN", {"expected": f"below {nodes}", "actual": operation.affected[-1]})
                )
            if state.epoch == MAX_EPOCH:
                found.append(("EPOCH_OVERFLOW", {"actual": str(state.epoch)}))
    return found


def _unknown(state: State, leaf_id: int) -> list[tuple[str, Evidence]]:
    return [] if leaf_id in state.leaves else [("LEAF_UNKNOWN", {"actual": leaf_id})]


def _duplicates(state: State, public_key: bytes) -> list[tuple[str, Evidence]]:
    for leaf_id, leaf in state.leaves.items():
        if leaf.public_key == public_key:
            return [("LEAF_KEY_DUPLICATE", {"leaf_id": leaf_id})]
    return []

"""States of an authority, and the state that each operation makes of the one before it."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from strandline.dialects.aura.types import (
    ANY,
    SUITE,
    ZERO,
    AddLeaf,
    ChangePolicy,
    Fact,
    Genesis,
    KeyRecord,
    LeafNode,
    Policy,
    RekeyLeaf,
    RemoveLeaf,
    RotateEpoch,
    TreeOp,
)
from strandline.dialects.aura.verify.commitments import state_commitment
from strandline.dialects.aura.verify.policies import required_signers, threshold
from strandline.dialects.aura.verify.tree import Tree, updated_tree

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


EMPTY: Final = State()


class Draft:
    """A state that operations change in place, without its digests; the state that it began with stays as it is."""

    __slots__ = (
        "_owns_leaves",
        "epoch",
        "height",
        "key",
        "key_epoch",
        "leaves",
        "next_leaf_id",
        "op_id",
        "policy",
        "suite",
    )

    def __init__(self, state: State) -> None:
        self.epoch = state.epoch
        self.policy = state.policy
        self.key = state.key
        self.key_epoch = state.key_epoch
        self.suite = state.suite
        self.next_leaf_id = state.next_leaf_id
        self.height = state.height
        self.op_id = state.op_id
        self.leaves = state.leaves
        self._owns_leaves = False

    def _own_leaves(self) -> dict[int, LeafNode]:
        if not self._owns_leaves:
            self.leaves, self._owns_leaves = dict(self.leaves), True
        return self.leaves  # type: ignore[return-value]

    def apply(self, op: TreeOp, op_id: bytes) -> None:
        """Apply an operation that fits.

        Raises:
            KeyError: it names a leaf that is not active, so it does not fit.
        """
        operation = op.operation
        match operation:
            case Genesis():
                self.suite, self.policy, self.key = operation.suite, operation.policy, operation.key
            case AddLeaf():
                self._own_leaves()[operation.leaf.leaf_id] = operation.leaf
                self.next_leaf_id += 1
            case RemoveLeaf():
                del self._own_leaves()[operation.leaf]
            case RekeyLeaf():
                leaves = self._own_leaves()
                old = leaves[operation.leaf]
                leaves[operation.leaf] = LeafNode(
                    old.leaf_id, old.device_id, old.role, operation.public_key, old.meta
                )
            case ChangePolicy():
                self.policy = operation.new_policy
            case RotateEpoch():
                self.epoch += 1
                if operation.key is not None:
                    self.key, self.key_epoch = operation.key, self.epoch
        self.height += 1
        self.op_id = op_id

    def committed(self, before: Tree | None, changed: range) -> State:
        """Return the state with its tree and its commitment, computed bottom-up.

        `before` is the tree that it began with and `changed` as in `updated_tree`; without, the tree is a full one.
        """
        needed = threshold(self.policy, len(self.leaves))
        tree = updated_tree(before, list(self.leaves.values()), self.epoch, needed, changed)
        tree_commitment = tree.commitment()
        return State(
            self.epoch,
            self.policy,
            self.key,
            self.key_epoch,
            self.suite,
            self.leaves,
            self.next_leaf_id,
            self.height,
            self.op_id,
            tree,
            tree_commitment,
            state_commitment(self, tree_commitment),
        )


def apply_op(state: State, op: TreeOp, op_id: bytes) -> State:
    """Return the state that an operation makes; it must pass `check_attested_op`."""
    changed = _changed_leaves(state, op)
    draft = Draft(state)
    draft.apply(op, op_id)
    return draft.committed(state.tree, changed)


def state_after(state: State, fact: Fact) -> State:
    """Return the state that the operation of a fact makes, as `apply_op`.

    Raises:
        ValueError: the fact is no operation.
    """
    if fact.attested is None or fact.op_id is None:
        raise ValueError("only operations make states")
    return apply_op(state, fact.attested.op, fact.op_id)


def committed(state: State) -> State:
    """Return the state with all digests computed from nothing."""
    return Draft(state).committed(None, range(0))


def _changed_leaves(state: State, op: TreeOp) -> range:
    """Return the positions of leaves that an operation adds, changes or moves."""
    operation, count = op.operation, len(state.leaves)
    match operation:
        case AddLeaf():
            return range(count, count + 1)
        case RemoveLeaf():
            return range(bisect_left(list(state.leaves), operation.leaf), count)
        case RekeyLeaf():
            at = bisect_left(list(state.leaves), operation.leaf)
            return range(at, at + 1)
    return range(0)

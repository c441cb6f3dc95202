"""A depth-first walk over the states of operations: one state is in memory, and the steps that lead back from it."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

from strandline.dialects.aura.types import AddLeaf, LeafNode, RekeyLeaf, RemoveLeaf, TreeOp
from strandline.dialects.aura.verify.policies import threshold
from strandline.dialects.aura.verify.states import EMPTY, State, apply_op
from strandline.dialects.aura.verify.tree import updated_tree


@dataclass(frozen=True, slots=True)
class Step:
    """An operation, and the undo data: the state before it without leaves and tree, and the old leaf."""

    op: TreeOp
    before: State
    old: LeafNode | None

    def back(self, state: State) -> State:
        """Return the state before the operation, from the one that it makes; costs what the operation does."""
        operation, ids = self.op.operation, list(state.leaves)
        leaves = dict(state.leaves)
        changed = range(0)
        match operation:
            case AddLeaf():
                del leaves[operation.leaf.leaf_id]
                changed = range(len(leaves), len(leaves) + 1)
            case RemoveLeaf() if self.old is not None:
                at = bisect_left(ids, operation.leaf)
                moved = {each: leaves.pop(each) for each in ids[at:]}
                leaves[operation.leaf] = self.old
                leaves |= moved
                changed = range(at, len(leaves))
            case RekeyLeaf() if self.old is not None:
                at = bisect_left(ids, operation.leaf)
                leaves[operation.leaf] = self.old
                changed = range(at, at + 1)
        needed = threshold(self.before.policy, len(leaves))
        tree = updated_tree(state.tree, list(leaves.values()), self.before.epoch, needed, changed)
        return replace(self.before, leaves=leaves, tree=tree)


def step_from(state: State, op: TreeOp) -> Step:
    """Return the step that an operation makes from a state that it fits."""
    operation = op.operation
    old = state.leaves[operation.leaf] if isinstance(operation, RemoveLeaf | RekeyLeaf) else None
    return Step(op, replace(state, leaves=EMPTY.leaves, tree=EMPTY.tree), old)


class Walk:
    """Visits a state and those that operations make of it, the last followed first.

    An operation is applied when it is visited, and undone when no state after it is left. So two states are in memory,
    however a history forks. Each step is made once and undone at most once.
    """

    def __init__(self, start: State) -> None:
        self._at = start
        self._steps: list[Step] = []
        self._waiting: list[tuple[int, TreeOp, bytes]] = []
        self._last: State | None = None

    def states(self) -> Iterator[State]:
        """Yield each state once; before the next one is asked for, `follow` says what comes after it."""
        yield self._at
        while self._waiting:
            depth, op, op_id = self._waiting.pop()
            while len(self._steps) > depth:
                self._at = self._steps.pop().back(self._at)
            step = step_from(self._at, op)
            state, self._last = self._last, None
            self._at = apply_op(self._at, op, op_id) if state is None else state
            if self._waiting:
                self._steps.append(step)
            else:
                self._steps.clear()
            yield self._at

    def follow(self, op: TreeOp, state: State) -> None:
        """Visit the state that an operation makes of the present one later: `state`, which is not held."""
        self._waiting.append((len(self._steps), op, state.op_id))
        self._last = state

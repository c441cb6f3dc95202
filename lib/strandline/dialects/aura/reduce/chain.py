"""The operations of an authority that count: of concurrent ones the greatest id, then its descendants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from strandline.dialects.aura.types import ZERO
from strandline.dialects.aura.verify import AcceptedOp, OpSkeleton, PlacedOp, State

Outcome: TypeAlias = Literal["applied", "superseded", "orphaned", "invalid", "unreachable"]


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An operation with its outcome; `op` is the fact with the least id of those that carry it.

    `siblings` counts the valid operations on its parent state, itself included. `lost_to` is, of a superseded
    operation, the winner; of an orphaned one, its nearest superseded ancestor.
    """

    op: AcceptedOp
    outcome: Outcome
    fact_count: int
    siblings: int
    lost_to: bytes | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The rows of all stored operations by op id, and the operations from the base to the tip, in order.

    `pruned` are the outcomes of skeletons by op id; `fork_count` counts the states with two or more valid children,
    stored or pruned.
    """

    rows: Mapping[bytes, OperationRow]
    path: Sequence[PlacedOp]
    pruned: Mapping[bytes, Outcome] = field(default_factory=dict)
    fork_count: int = 0

    def count(self, outcome: Outcome) -> int:
        """Return how many operations have an outcome."""
        held = sum(row.outcome == outcome for row in self.rows.values())
        return held + sum(each == outcome for each in self.pruned.values())

    @property
    def forks(self) -> dict[bytes, list[AcceptedOp]]:
        """States with two or more valid children, all of them stored: the children by the parent's commitment, in order
        of ids.

        Of a fork with a pruned child the evidence cannot be made again.
        """
        by_parent: dict[bytes, list[OperationRow]] = {}
        for row in self.rows.values():
            if row.siblings > 1:
                by_parent.setdefault(row.op.parent_commitment, []).append(row)
        return {
            parent: sorted((row.op for row in rows), key=lambda op: op.op_id)
            for parent, rows in sorted(by_parent.items())
            if len(rows) == rows[0].siblings
        }


def chain_of(
    operations: Iterable[AcceptedOp], base: State | None = None, skeletons: Iterable[OpSkeleton] = ()
) -> Chain:
    """Return the outcome of each valid operation. Neither order nor repetition of the input makes a difference.

    - Operations that follow one state are concurrent: the greatest op id wins, compared as unsigned bytes. It covers
      every field, so no writer's choice of order or time and no arrival decides.
    - The walk starts at the empty state and follows the winners. With a `base`, the path to it wins at each fork, and
      the walk continues from the base. Its history may be missing.
    - Other operations on a state of the walk are `superseded`; what follows them is `orphaned`. What follows no state
      of the set is `unreachable`.
    - Skeletons take the place of pruned operations. A stored operation with the id of a skeleton is a late copy and
      does not count.
    """
    return _Walk(operations, skeletons).rows(base)


class _Walk:
    """Operations by id and by the state that they follow. Commitments may be damaged: no row is placed twice."""

    def __init__(self, operations: Iterable[AcceptedOp], skeletons: Iterable[OpSkeleton]) -> None:
        self.skeletons = {each.op_id: each for each in skeletons}
        self.ops: dict[bytes, AcceptedOp] = {}
        self.children: dict[bytes, list[bytes]] = {}
        self.repeated: dict[bytes, set[bytes]] = {}
        for skeleton in self.skeletons.values():
            self.children.setdefault(skeleton.parent_commitment, []).append(skeleton.op_id)
        for op in operations:
            if op.op_id in self.skeletons:
                continue
            held = self.ops.get(op.op_id)
            if held is None:
                self.ops[op.op_id] = op
                self.children.setdefault(op.parent_commitment, []).append(op.op_id)
                continue
            self.repeated.setdefault(op.op_id, {held.fact.fact_id}).add(op.fact.fact_id)
            if op.fact.fact_id < held.fact.fact_id:
                self.ops[op.op_id] = op
        self.placed: dict[bytes, OperationRow] = {}
        self.pruned: dict[bytes, Outcome] = {}

    def rows(self, base: State | None) -> Chain:
        """Place every operation: those of the walk, then their siblings with descendants, then unreachable ones."""
        start, forced = (ZERO, {}) if base is None else self._path_to(base)
        path: list[PlacedOp] = []
        lost: list[tuple[bytes, bytes]] = []
        commitment = start
        while rivals := self.children.get(commitment):
            winner = rivals[0] if len(rivals) == 1 else forced.get(commitment) or max(rivals)
            if self._is_placed(winner):
                break
            path.append(self._op(winner))
            commitment = self._place(winner, "applied")
            if len(rivals) > 1:
                losers = [op_id for op_id in rivals if op_id != winner]
                lost += [(self._place(op_id, "superseded", winner), op_id) for op_id in losers]
        while lost:
            commitment, ancestor = lost.pop()
            orphans = [op_id for op_id in self.children.get(commitment, ()) if not self._is_placed(op_id)]
            lost += [(self._place(op_id, "orphaned", ancestor), ancestor) for op_id in orphans]
        for op_id in (*self.ops, *self.skeletons):
            if not self._is_placed(op_id):
                self._place(op_id, "unreachable")
        forked = sum(len(rivals) > 1 for rivals in self.children.values())
        return Chain(self.placed, path, self.pruned, forked)

    def _op(self, op_id: bytes) -> PlacedOp:
        return self.ops.get(op_id) or self.skeletons[op_id]

    def _is_placed(self, op_id: bytes) -> bool:
        return op_id in self.placed or op_id in self.pruned

    def _place(self, op_id: bytes, outcome: Outcome, lost_to: bytes | None = None) -> bytes:
        """Give an operation its outcome; return the commitment of the state that it makes."""
        op = self.ops.get(op_id)
        if op is None:
            self.pruned[op_id] = outcome
            return self.skeletons[op_id].new_commitment
        siblings = len(self.children[op.parent_commitment])
        fact_count = len(self.repeated.get(op_id, "1"))
        self.placed[op_id] = OperationRow(op, outcome, fact_count, siblings, lost_to)
        return op.new_commitment

    def _path_to(self, base: State) -> tuple[bytes, dict[bytes, bytes]]:
        """Return the start of the history before the base, and the next operation of each of its states."""
        makers: dict[bytes, PlacedOp] = {op.new_commitment: op for op in self.ops.values()}
        makers |= {skeleton.new_commitment: skeleton for skeleton in self.skeletons.values()}
        path: dict[bytes, bytes] = {}
        commitment = base.commitment
        while commitment in makers and makers[commitment].parent_commitment not in path:
            op = makers[commitment]
            commitment = op.parent_commitment
            path[commitment] = op.op_id
        return commitment, path

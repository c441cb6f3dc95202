"""The base of an authority: the state that a snapshot in force attests. It settles all forks before it."""

from collections.abc import Iterable

from strandline.dialects.aura.types import Fact
from strandline.dialects.aura.verify import EMPTY, AcceptedOp, Draft, PrunedOps, State


def base_commitment(snapshot: Fact) -> bytes:
    """Return the commitment of the state that a snapshot of an authority attests, which only itself may do."""
    return snapshot.attest[0].commitment


def base_state(operations: Iterable[AcceptedOp], commitment: bytes, known: State = EMPTY) -> State | None:
    """Return the state with this commitment, or None if the operations do not lead to it.

    Follows the operations back to a known state, the empty one if none is given, and folds them: one tree is computed,
    and it must give the commitment, so a damaged one on the way is found.
    """
    makers = {op.new_commitment: op for op in operations}
    path: list[AcceptedOp] = []
    at = commitment
    while at != known.commitment:
        op = makers.pop(at, None)
        if op is None:
            return None
        path.append(op)
        at = op.parent_commitment
    draft = Draft(known)
    try:
        for op in reversed(path):
            draft.apply(op.attested.op, op.op_id)
        state = draft.committed(None, range(0)) if path else known
    except (KeyError, OverflowError):
        return None
    return state if state.commitment == commitment else None


def state_beside(
    operations: Iterable[AcceptedOp], commitment: bytes, pruned: PrunedOps | None
) -> State | None:
    """Return the state with this commitment beside what was pruned, or None if it cannot be built, or nothing was."""
    if pruned is None:
        return None
    held = list(operations)
    return base_state(held, commitment, pruned.state) or base_state(held, commitment)

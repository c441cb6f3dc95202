"""The base of an authority: the state that the snapshot in force attests. It decides all forks before it."""

from collections.abc import Iterable

from strandline.dialects.aura.types import Fact
from strandline.dialects.aura.verify import EMPTY, AcceptedOp, Draft, PrunedOps, State


def base_commitment(snapshot: Fact) -> bytes:
    """Return the commitment of the state that a snapshot of an authority attests; only the authority itself attests."""
    return snapshot.attest[0].commitment


def base_state(operations: Iterable[AcceptedOp], commitment: bytes, known: State = EMPTY) -> State | None:
    """Return the state with this commitment, or None if the operations do not lead to it.

    Follows the operations back to a known state (the empty one if none is given), then applies them. One tree is
    computed and must give the commitment, so damaged operations are found.
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


def built_state(
    operations: Iterable[AcceptedOp], commitment: bytes, pruned: PrunedOps | None
) -> State | None:
    """Return the state with this commitment, or None if held operations do not lead to it, nor what was pruned."""
    held = list(operations)
    found = None if pruned is None else base_state(held, commitment, pruned.state)
    return found or base_state(held, commitment)

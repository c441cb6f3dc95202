"""Facts of contexts that depend on the state, and the merge of copies of one body."""

from collections.abc import Iterable
from typing import Final

from strandline.dialects.aura.author.facts import Timestamp, relational
from strandline.dialects.aura.codec import encode
from strandline.dialects.aura.reduce.contexts import FlowKey, RelationalState
from strandline.dialects.aura.types import ZERO, Attestation, Fact

_MEMBERS: Final = ("sig", "authority", "commitment")


def merge_attest(facts: Iterable[Fact]) -> Fact:
    """Return one fact with the attestations of all copies of one body; of each authority the least one.

    Raises:
        ValueError: there is no fact, or their bodies differ.
    """
    copies = list(facts)
    if len({fact.body_id for fact in copies}) != 1:
        raise ValueError("only copies of one body can be merged")
    least: dict[bytes, Attestation] = {}
    for each in sorted((each for fact in copies for each in fact.attest), reverse=True):
        least[each.authority] = each
    merged = [{name: getattr(least[authority], name) for name in _MEMBERS} for authority in sorted(least)]
    return encode({**copies[0].value, "attest": merged})


def next_charge(
    state: RelationalState,
    src: bytes,
    dst: bytes,
    epoch: int,
    cost: int,
    *,
    order: bytes,
    timestamp: Timestamp,
) -> Fact:
    """Return a charge that follows the tip of its budget, without attestations.

    Raises:
        OverflowError: the nonce of the tip is the greatest there is.
    """
    tip = next((each.tip for each in state.flows if each.key == FlowKey(src, dst, epoch)), None)
    nonce, prev = (0, ZERO) if tip is None else (tip[0] + 1, tip[1])
    if nonce >= 2**64:
        raise OverflowError("the chain of charges is full")
    members = {
        "context": state.namespace.id, "src": src, "dst": dst, "epoch": epoch, "cost": cost, "nonce": nonce,
        "prev": prev,
    }  # fmt: skip
    return relational(state.namespace, "FlowCharge", members, order=order, timestamp=timestamp)

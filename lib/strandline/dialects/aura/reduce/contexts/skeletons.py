"""The remains of pruned facts of a context: skeletons of charges, and their sums.

A body counts once: skeletons are summed per distinct body, however many copies of it were pruned.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

from strandline.core.encoding.strict_cbor import CborRefused, encode_cbor, strict_cbor
from strandline.dialects.aura.reduce.contexts.bodies import Body
from strandline.dialects.aura.reduce.contexts.flows import MAX_COST, MOST, Flow, FlowKey, flows_of
from strandline.dialects.aura.types import DIGEST_BYTES, ID_BYTES

CHARGE: Final = "FlowCharge"
_VERSION: Final = 1
_NESTING: Final = 4


def encode_skeleton(body: Body) -> bytes | None:
    """Return the skeleton of a body: of a charge [src, dst, epoch, cost, nonce], of others nothing is needed."""
    if body.fact.variant != CHARGE:
        return None
    content = body.content
    return charge_skeleton(*(content[name] for name in ("src", "dst", "epoch", "cost", "nonce")))


def charge_skeleton(src: bytes, dst: bytes, epoch: int, cost: int, nonce: int) -> bytes:
    """Return the skeleton of a charge."""
    return encode_cbor([src, dst, epoch, cost, nonce])


def decode_skeleton(raw: bytes, body_id: bytes) -> Flow:
    """Return the charge of a skeleton as a budget with that one charge.

    Raises:
        ValueError: the bytes are not a skeleton.
    """
    value = _decoded(raw)
    match value:
        case [bytes(src), bytes(dst), epoch, cost, nonce] if (
            len(src) == len(dst) == ID_BYTES and _are_numbers(epoch, cost, nonce) and cost <= MAX_COST
        ):
            return Flow(FlowKey(src, dst, epoch), cost, 1, (nonce, body_id))
    raise ValueError("a skeleton of a charge must be src, dst, epoch, cost and nonce")


def carried(charges: Iterable[Body], before: Iterable[Flow]) -> tuple[Flow, ...]:
    """Return the sums of pruned charges, including those of earlier collections."""
    return tuple(flows_of({CHARGE: list(charges)}, before))


def encode_carry(flows: Iterable[Flow]) -> bytes:
    """Return a carry as stored: the sums by budget, ascending."""
    rows = [
        [*flow.key, flow.spent, flow.charges, *flow.tip]
        for flow in sorted(flows, key=lambda flow: flow.key)
        if flow.tip is not None
    ]
    return encode_cbor({"v": _VERSION, "flow": rows})


def decode_carry(raw: bytes) -> tuple[Flow, ...]:
    """Return the sums in a stored carry.

    Raises:
        ValueError: the bytes are not a carry.
    """
    value = _decoded(raw)
    if not isinstance(value, dict) or value.keys() != {"v", "flow"} or value["v"] != _VERSION:
        raise ValueError("a carry must be a map of version 1")
    if not isinstance(value["flow"], list):
        raise ValueError("a carry must have a list of sums")
    flows = tuple(_flow(row) for row in value["flow"])
    if any(a.key >= b.key for a, b in pairwise(flows)):
        raise ValueError("the sums of a carry must be ascending")
    return flows


def _flow(row: Sequence[Any]) -> Flow:
    match row:
        case [bytes(src), bytes(dst), epoch, spent, charges, nonce, bytes(body_id)] if (
            len(src) == len(dst) == ID_BYTES
            and len(body_id) == DIGEST_BYTES
            and _are_numbers(epoch, spent, charges, nonce)
            and charges >= 1
        ):
            return Flow(FlowKey(src, dst, epoch), spent, charges, (nonce, body_id))
    raise ValueError("a sum of a carry must have src, dst, epoch, spent, charges and tip")


def _are_numbers(*values: Any) -> bool:
    return all(type(value) is int and 0 <= value <= MOST for value in values)


def _decoded(raw: bytes) -> Any:
    try:
        return strict_cbor(
            raw, tags=frozenset(), floats=("none",), nesting=_NESTING, most_values=len(raw)
        ).value
    except CborRefused:
        raise ValueError("what remains of pruned facts must be canonical CBOR") from None

"""Flow budgets of a context: what one member charged for messages to another, and how much it may."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from strandline.dialects.aura.reduce.contexts.bodies import Body
from strandline.dialects.aura.reduce.contexts.capabilities import Cap, is_bottom

MOST: Final = 2**64 - 1
"""The greatest nonce, epoch and sum; `spent` stays there should it get there."""

MAX_COST: Final = 2**32 - 1
"""The greatest cost of a charge."""

DEFAULT_LIMIT: Final = 1024
"""The effective limit of a budget for which nobody gave one."""


class FlowKey(NamedTuple):
    """Who sends to whom, in which epoch of the sender."""

    src: bytes
    dst: bytes
    epoch: int


@dataclass(frozen=True, slots=True)
class Flow:
    """A budget.

    `tip` is the greatest (nonce, body id) of its charges, None without any; `limit` is None if nobody set one.
    """

    key: FlowKey
    spent: int = 0
    charges: int = 0
    tip: tuple[int, bytes] | None = None
    limit: int | None = None

    @property
    def is_unbroken(self) -> bool:
        """Whether there are as many charges as nonces. If not, there is a gap or a fork; one of each can cancel out."""
        return self.charges == (0 if self.tip is None else self.tip[0] + 1)

    @property
    def is_overdrawn(self) -> bool:
        """Whether more was spent than the limit allows: two replicas may do so together."""
        return self.limit is not None and self.spent > self.limit


def flows_of(met: Mapping[str, Sequence[Body]], carried: Iterable[Flow]) -> list[Flow]:
    """Return the budgets of met charges and limits, by key; `carried` adds up charges that were pruned.

    A sum over distinct bodies loses no concurrent charge.
    """
    flows = {each.key: each for each in carried}
    for body in met.get("FlowCharge", ()):
        key, content = _key(body), body.content
        before = flows.get(key) or Flow(key)
        tip = max(before.tip or (0, b""), (content["nonce"], body.body_id))
        flows[key] = Flow(key, min(before.spent + content["cost"], MOST), before.charges + 1, tip)
    limits: dict[FlowKey, int] = {}
    for body in met.get("FlowLimit", ()):
        limit = body.content["limit"]
        limits[_key(body)] = min(limit, limits.get(_key(body), limit))
    for key, limit in limits.items():
        before = flows.get(key) or Flow(key)
        flows[key] = Flow(key, before.spent, before.charges, before.tip, limit)
    return [flows[key] for key in sorted(flows)]


def effective_limit(flow: Flow, cap: Cap | None) -> int:
    """Return how much may be spent, given the capability of the sender or None.

    The least of the budget's limit and of the limits `flow` and `flow:<dst>` of the capability; 0 if that allows
    nothing or not this epoch; 1024 if nobody gave any.
    """
    stated = [] if flow.limit is None else [flow.limit]
    if cap is not None:
        if is_bottom(cap) or not cap.allows_epoch(flow.key.epoch):
            return 0
        names = ("flow", f"flow:{UUID(bytes=flow.key.dst)}")
        stated += [cap.limits[name] for name in names if name in cap.limits]
    return min(stated, default=DEFAULT_LIMIT)


def headroom(flow: Flow, cap: Cap | None) -> int:
    """Return how much of the effective limit is left."""
    return max(0, effective_limit(flow, cap) - flow.spent)


def _key(body: Body) -> FlowKey:
    return FlowKey(body.content["src"], body.content["dst"], body.content["epoch"])

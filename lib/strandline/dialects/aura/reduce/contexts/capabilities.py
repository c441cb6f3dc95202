"""Capabilities: what a subject may do. They only narrow: a refinement meets what was there before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Cap:
    """What a subject may do, to which limits, in which epochs.

    `actions` None means all. A name without a limit is unbounded. `epoch_min` and `epoch_max` None are open.
    """

    actions: frozenset[str] | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    epoch_min: int | None = None
    epoch_max: int | None = None

    def allows_epoch(self, epoch: int) -> bool:
        """Return whether the epoch lies in the range."""
        least = 0 if self.epoch_min is None else self.epoch_min
        return least <= epoch and (self.epoch_max is None or epoch <= self.epoch_max)


TOP: Final = Cap()
"""Everything is allowed: the neutral element of `meet`."""


def meet(a: Cap, b: Cap) -> Cap:
    """Return what both allow: commutative, associative, idempotent; `TOP` is neutral."""
    return meet_all((a, b))


def meet_all(caps: Iterable[Cap]) -> Cap:
    """Return what all allow. Each limit costs once, however many names have one by then."""
    actions: frozenset[str] | None = None
    limits: dict[str, int] = {}
    mins: list[int] = []
    maxes: list[int] = []
    for cap in caps:
        if cap.actions is not None:
            actions = cap.actions if actions is None else actions & cap.actions
        for name, limit in cap.limits.items():
            limits[name] = min(limit, limits.get(name, limit))
        mins += [] if cap.epoch_min is None else [cap.epoch_min]
        maxes += [] if cap.epoch_max is None else [cap.epoch_max]
    return Cap(actions, limits, max(mins, default=None), min(maxes, default=None))


def is_bottom(cap: Cap) -> bool:
    """Return whether nothing is allowed: no action is left, or no epoch. What is bottom stays bottom."""
    is_empty = cap.epoch_min is not None and cap.epoch_max is not None and cap.epoch_min > cap.epoch_max
    return is_empty or (cap.actions is not None and not cap.actions)


def cap_of(content: Mapping[str, Any]) -> Cap:
    """Return the capability of the members of a `Capability` fact."""
    actions = content["actions"]
    return Cap(
        None if actions is None else frozenset(actions),
        dict(content["limits"]),
        content["epoch_min"],
        content["epoch_max"],
    )

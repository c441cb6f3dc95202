"""Facts that set a flow budget to given values: `spent` only grows, and a limit only shrinks."""

from dataclasses import dataclass, replace
from typing import Final, Protocol

from strandline.core.errors import UsageError
from strandline.dialects.aura.author.charges import (
    BudgetReading,
    FlowBudget,
    PlannedCharge,
    free_slot,
    planned_charge,
)
from strandline.dialects.aura.author.facts import relational
from strandline.dialects.aura.reduce.contexts.flows import MAX_COST
from strandline.dialects.aura.types import Fact, Namespace

MAX_CHARGES: Final = 1_000
"""Charges that one update writes at most."""


class SpentDecrease(UsageError):  # noqa: N818 - the book's own word
    """An update would lower what is spent."""

    def __init__(self, spent: int, wanted: int) -> None:
        super().__init__(
            "SPENT_DECREASE",
            f"{spent} are spent and cannot become {wanted}, so nothing was written.",
            "Read the budget again: a replica charged it meanwhile.",
        )


class StaleEpoch(UsageError):  # noqa: N818 - the book's own word
    """An update names an epoch that the sender has left."""

    def __init__(self, epoch: int, wanted: int) -> None:
        super().__init__(
            "STALE_EPOCH",
            f"The sender is in epoch {epoch}, the budget is of epoch {wanted}, so nothing was written.",
            "Read the budget again: each epoch of the sender has its own.",
        )


class UnknownEpoch(UsageError):  # noqa: N818 - the book's own word
    """An update names an epoch that the sender has not reached in this lake."""

    def __init__(self, epoch: int, wanted: int) -> None:
        super().__init__(
            "UNKNOWN_EPOCH",
            f"The sender is in epoch {epoch} here, the budget is of epoch {wanted}, so nothing was written.",
            "Ingest the journal of the sender up to its newest epoch first.",
        )


@dataclass(frozen=True, slots=True)
class BudgetUpdate:
    """What to write: a limit or None, and the costs of charges, one after the other."""

    limit: int | None
    costs: tuple[int, ...]


def budget_update(current: FlowBudget, wanted: FlowBudget) -> BudgetUpdate:
    """Return the update that brings a budget to the wanted values. A higher limit has no effect: limits meet.

    Raises:
        StaleEpoch, UnknownEpoch: the wanted epoch is not that of the sender's tip.
        SpentDecrease: less is wanted than is spent.
        ValueError: more than 1,000 charges would be needed.
    """
    if wanted.epoch < current.epoch:
        raise StaleEpoch(current.epoch, wanted.epoch)
    if wanted.epoch > current.epoch:
        raise UnknownEpoch(current.epoch, wanted.epoch)
    if wanted.spent < current.spent:
        raise SpentDecrease(current.spent, wanted.spent)
    whole, rest = divmod(wanted.spent - current.spent, MAX_COST)
    if whole + bool(rest) > MAX_CHARGES:
        raise ValueError(f"an update writes at most {MAX_CHARGES} charges of at most {MAX_COST}")
    costs = (MAX_COST,) * whole + ((rest,) if rest else ())
    return BudgetUpdate(wanted.limit if wanted.limit < current.limit else None, costs)


class FactSigner(Protocol):
    """What attests the facts of an update."""

    def prepare(self, charge: PlannedCharge) -> Fact:
        """Sign a charge."""

    def signed(self, fact: Fact) -> Fact:
        """Sign a fact."""


def update_facts(
    signer: FactSigner, context: Namespace, reading: BudgetReading, update: BudgetUpdate
) -> list[Fact]:
    """Return the signed facts of an update: a limit, then charges, one after the other.

    The first charge takes the slot of the tip. The next ones follow new tips, so their slots are not looked up.

    Raises:
        ChainFull: charges are wanted, and the last nonce is used.
        SlotsTaken: as `planned_charge`.
    """
    facts: list[Fact] = []
    key = reading.key
    if update.limit is not None:
        slot = free_slot(reading, context)
        members = {
            "context": context.id, "src": key.src, "dst": key.dst, "epoch": key.epoch, "limit": update.limit
        }  # fmt: skip
        limit = relational(context, "FlowLimit", members, order=slot, timestamp={"OrderClock": slot})
        facts.append(signer.signed(limit))
        here = replace(reading, taken=lambda slots: {*reading.taken(slots), slot})
    else:
        here = reading
    for cost in update.costs:
        charge = planned_charge(here, context, cost, None)
        facts.append(signer.prepare(charge))
        here = replace(reading, tip=(charge.nonce, facts[-1].body_id), taken=lambda _: frozenset())
    return facts

"""Charging a flow budget in a lake that several writers use: the check of the budget and the write are one step.

Two writers that know one tip compute one order token, the slot, so at most one of them inserts. The other one judges
the budget again. A `ChargeLake` reads and writes; this module knows no tables.
"""

from collections.abc import Callable, Generator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from strandline.core.errors import FaultError, UsageError
from strandline.core.hashing import tagged
from strandline.dialects.aura.reduce.contexts import FlowKey
from strandline.dialects.aura.reduce.contexts.flows import MAX_COST, MOST
from strandline.dialects.aura.types import ZERO, Namespace

ROUNDS: Final = 10
"""How often a charge is tried before it gives up."""

SLOT_BATCHES: Final = (1, 64, 4096)
"""Slots that a charge asks for in one query, and in the next ones if all are taken.

Slots are public functions of the tip, and any fact of the context may have one as its order token.
"""

Prepared = TypeVar("Prepared")


class BudgetExceeded(UsageError):  # noqa: N818 - the book's own word
    """A charge would pass the limit of its budget."""

    def __init__(self, cost: int, spent: int, limit: int) -> None:
        super().__init__(
            "BUDGET_EXCEEDED",
            f"A charge of {cost} does not fit: {spent} of {limit} are spent, so nothing was written.",
            "Wait for the next epoch, or ask the parties of the budget for a new context with a higher limit.",
        )


class ChainFull(UsageError):  # noqa: N818 - the book's own word
    """The last nonce of a budget is used."""

    def __init__(self) -> None:
        super().__init__(
            "CHAIN_FULL",
            "The chain of charges has used its last nonce, so nothing was written.",
            "Rotate the epoch of the sender: charges of the next epoch start a new chain.",
        )


class ConcurrentUpdate(FaultError):  # noqa: N818 - the book's own word
    """Other writers committed first in each round."""

    def __init__(self) -> None:
        super().__init__(
            "CONCURRENT_UPDATE",
            f"Other writers charged this budget in each of {ROUNDS} rounds, so nothing was written.",
            "Repeat the call, with a request id if a repeat must not charge twice.",
        )


class SlotsTaken(ConcurrentUpdate):
    """Facts of the context have every slot after the tip that was looked up."""

    def __init__(self) -> None:
        FaultError.__init__(
            self,
            "SLOTS_TAKEN",
            f"Facts of the context have the first {sum(SLOT_BATCHES):,} slots after the tip, so nothing was written.",
            "Rotate the epoch of the sender: charges of the next epoch have other slots. "
            "The facts with these order tokens name who attested them.",
        )


class WriteConflict(Exception):  # noqa: N818
    """Another writer committed since the lake was read."""


@dataclass(frozen=True, slots=True)
class FlowBudget:
    """A budget of one sender to one receiver in an epoch; `limit` is the effective one."""

    limit: int
    spent: int
    epoch: int


@dataclass(frozen=True, slots=True)
class BudgetReading:
    """A budget at one version of a lake.

    `tip` is the greatest (nonce, body id) of its charges, or None. `is_requested` says whether a charge with this time
    token counts, `taken` which of these order tokens facts of the context have.
    """

    key: FlowKey
    budget: FlowBudget
    tip: tuple[int, bytes] | None
    is_requested: Callable[[bytes], bool]
    taken: Callable[[Sequence[bytes]], AbstractSet[bytes]]


@dataclass(frozen=True, slots=True)
class PlannedCharge:
    """A charge that nobody attests yet. `slot` is its order token, `time` the token of its `OrderClock`."""

    key: FlowKey
    cost: int
    nonce: int
    prev: bytes
    slot: bytes
    time: bytes


class ChargeLake(Protocol[Prepared]):
    """Where charges of one budget are."""

    def read(self) -> BudgetReading:
        """Return the budget at the newest version."""

    def prepare(self, charge: PlannedCharge) -> Prepared:
        """Sign a charge."""

    def commit(self, prepared: Prepared) -> bool:
        """Insert a charge unless a fact of the context has its slot; return whether it did. All or nothing.

        Raises:
            WriteConflict: another writer committed meanwhile; nothing was written.
        """


def charge_slot(namespace: Namespace, key: FlowKey, nonce: int, prev: bytes, attempt: int) -> bytes:
    """Return the order token of the charge after `prev`, 32 bytes: equal for all who know one tip."""
    data = key.src + key.dst + key.epoch.to_bytes(8, "little") + nonce.to_bytes(8, "little") + prev
    return tagged("strandline/aura/charge-slot/1", namespace.tagged + data + attempt.to_bytes(4, "little"))


def request_token(request_id: bytes) -> bytes:
    """Return the time token by which a repeated request finds its charge."""
    return tagged("strandline/aura/charge-request/1", request_id)


def charging(
    lake: ChargeLake[Prepared], namespace: Namespace, cost: int, request_id: bytes | None = None
) -> Generator[str, None, FlowBudget]:
    """Charge a budget; yield after each step, return the budget after the charge.

    A call that ends between two steps has written its charge or nothing; with a `request_id` a repeat finds it.

    Raises: ValueError: the cost is no 32-bit number. BudgetExceeded: the limit would be passed. ChainFull: the last
        nonce is used. ConcurrentUpdate: other writers won each round. SlotsTaken: facts have the slots after the tip.
    """
    if not 0 <= cost <= MAX_COST:
        raise ValueError(f"a cost is a number from 0 to {MAX_COST}, not {cost}")
    token = None if request_id is None else request_token(request_id)
    for _ in range(ROUNDS):
        reading = lake.read()
        yield "read"
        budget = reading.budget
        if token is not None and reading.is_requested(token):
            return budget
        if budget.spent + cost > budget.limit:
            raise BudgetExceeded(cost, budget.spent, budget.limit)
        prepared = lake.prepare(planned_charge(reading, namespace, cost, token))
        yield "prepared"
        try:
            is_inserted = lake.commit(prepared)
        except WriteConflict:
            is_inserted = False
        yield "committed"
        if is_inserted:
            return FlowBudget(budget.limit, budget.spent + cost, budget.epoch)
    raise ConcurrentUpdate


def planned_charge(
    reading: BudgetReading, namespace: Namespace, cost: int, token: bytes | None
) -> PlannedCharge:
    """Return the charge after the tip, in the first slot that is not taken; `token` is that of a request, or None.

    Raises: ChainFull: the last nonce is used. SlotsTaken: facts have the first 4,161 slots, which three queries look
        up.
    """
    if reading.tip is not None and reading.tip[0] >= MOST:
        raise ChainFull
    nonce, prev = _following(reading)
    slot = free_slot(reading, namespace)
    return PlannedCharge(reading.key, cost, nonce, prev, slot, slot if token is None else token)


def _following(reading: BudgetReading) -> tuple[int, bytes]:
    """Return nonce and predecessor of what follows the tip; no nonce follows the last one, so that one stays."""
    return (0, ZERO) if reading.tip is None else (min(reading.tip[0] + 1, MOST), reading.tip[1])


def free_slot(reading: BudgetReading, namespace: Namespace) -> bytes:
    """Return the first slot after the tip that is not taken, also where no charge can follow.

    Raises:
        SlotsTaken: as `planned_charge`.
    """
    nonce, prev = _following(reading)
    first = 0
    for count in SLOT_BATCHES:
        attempts = range(first, first + count)
        slots = [charge_slot(namespace, reading.key, nonce, prev, attempt) for attempt in attempts]
        taken = reading.taken(slots)
        free = next((slot for slot in slots if slot not in taken), None)
        if free is not None:
            return free
        first += count
    raise SlotsTaken

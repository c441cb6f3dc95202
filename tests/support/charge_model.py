"""A lake of charges in memory with the commits of Delta, and a scheduler that runs steps of writers in any order."""

from dataclasses import dataclass, field
from hashlib import sha256
from random import Random

from strandline.dialects.aura.author.charges import (
    BudgetExceeded,
    BudgetReading,
    ConcurrentUpdate,
    FlowBudget,
    WriteConflict,
    charging,
)
from strandline.dialects.aura.reduce.contexts import FlowKey
from strandline.dialects.aura.types import Namespace

SPACE = Namespace("context", b"\x01" * 16)
KEY = FlowKey(b"\x02" * 16, b"\x03" * 16, 1)


@dataclass
class Model:
    """Committed charges, in their order; `foreign` are slots of facts that are no charges of this budget."""

    limit: int
    rows: list = field(default_factory=list)
    foreign: set = field(default_factory=set)

    @property
    def spent(self):
        return sum(charge.cost for charge, _ in self.rows)


class Writer:
    """What one process sees of the model: `ChargeLake`."""

    def __init__(self, model, name):
        self.model, self.name, self.signed = model, name, 0

    def read(self):
        rows = tuple(self.model.rows)
        budget = FlowBudget(self.model.limit, sum(charge.cost for charge, _ in rows), KEY.epoch)
        tip = max(((charge.nonce, body) for charge, body in rows), default=None)
        slots = {charge.slot for charge, _ in rows} | self.model.foreign
        times = {charge.time for charge, _ in rows}
        return BudgetReading(KEY, budget, tip, times.__contains__, slots.intersection)

    def prepare(self, charge):
        self.signed += 1
        body = sha256(charge.slot + charge.cost.to_bytes(4, "little") + charge.time).digest()
        return charge, body, len(self.model.rows)

    def commit(self, prepared):
        charge, body, version = prepared
        if len(self.model.rows) != version:
            raise WriteConflict
        if any(charge.slot == held.slot for held, _ in self.model.rows):
            return False
        self.model.rows.append((charge, body))
        return True


def finished(steps):
    """Run a call to its end, and return its budget."""
    try:
        while True:
            next(steps)
    except StopIteration as ended:
        return ended.value


@dataclass
class Outcome:
    """What one interleaving left."""

    model: Model
    charged: list
    refused: int
    conflicts: int


def calls(writer, costs, request_ids):
    """The charges of one writer, one after the other; yields at each step, and notes what became of each."""
    found = []
    for cost, request_id in zip(costs, request_ids, strict=True):
        try:
            budget = yield from charging(writer, SPACE, cost, request_id)
            found.append(("charged", cost, budget))
        except BudgetExceeded:
            found.append(("refused", cost, None))
        except ConcurrentUpdate:
            found.append(("conflict", cost, None))
    return found


def interleavings(limit, writers, most, seed=0):
    """Run the writers, each a list of (cost, request id), in up to `most` different orders of their steps."""
    draw, waiting, runs = Random(seed), [()], 0
    while waiting and runs < most:
        at = draw.randrange(len(waiting))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        prefix = waiting.pop()
        outcome, more = _run(limit, writers, prefix)
        waiting += more
        runs += 1
        yield outcome


def _run(limit, writers, prefix):
    model = Model(limit)
    steps = {
        number: calls(Writer(model, number), *zip(*charges, strict=True))
        for number, charges in enumerate(writers)
    }
    taken, more, found = [], [], []
    while steps:
        choices = sorted(steps)
        if len(taken) < len(prefix):
            choice = prefix[len(taken)]
        else:
            choice = choices[0]
            more += [(*taken, other) for other in choices[1:]]
        taken.append(choice)
        try:
            next(steps[choice])
        except StopIteration as ended:
            found += ended.value
            del steps[choice]
    charged = [(cost, budget) for kind, cost, budget in found if kind == "charged"]
    kinds = [kind for kind, _, _ in found]
    return Outcome(model, charged, kinds.count("refused"), kinds.count("conflict")), more

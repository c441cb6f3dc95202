"""Charges and refinements as calls: the typed errors, the slot, and journals that stay as they were."""

from dataclasses import replace

import pytest

from strandline.core.errors import NamespaceMismatch, UsageError
from strandline.dialects.aura.author.budget_updates import BudgetUpdate, budget_update, update_facts
from strandline.dialects.aura.author.charges import (
    ROUNDS,
    SLOT_BATCHES,
    BudgetExceeded,
    BudgetReading,
    ChainFull,
    ConcurrentUpdate,
    FlowBudget,
    SlotsTaken,
    WriteConflict,
    charge_slot,
    charging,
    planned_charge,
)
from strandline.dialects.aura.author.facts import relational
from strandline.dialects.aura.author.journals import (
    NotARefinement,
    PermissionDenied,
    merge_facts,
    refine_caps,
)
from strandline.dialects.aura.reduce import Journal, plan_authority
from strandline.dialects.aura.reduce.contexts import FlowKey
from strandline.dialects.aura.reduce.pruning import pruned_after
from strandline.dialects.aura.types import RemoveLeaf
from strandline.dialects.aura.verify import admit
from support.aura_cases import K2, V_ID, U, b32, facts, other_authority, second_context, signed, states
from support.charge_model import KEY, SPACE, Model, Writer, finished
from support.context_cases import NAMESPACE, chains, context_vectors
from unit.aura.test_contexts import G, charge, refinement

KNOWN = [*facts().values(), other_authority()]


def test_the_slot_of_the_next_charge():
    tip = second_context()["f1'"].body_id
    slot = charge_slot(NAMESPACE, FlowKey(U.id, V_ID, 1), 2, tip, 0)
    assert slot.hex() == context_vectors()["slot"]


@pytest.mark.parametrize("cost", [-1, 2**32])
def test_a_cost_is_a_number_of_32_bits(cost):
    with pytest.raises(ValueError, match=str(cost)):
        next(charging(Writer(Model(10), 0), SPACE, cost))


def test_a_charge_above_the_limit_writes_nothing():
    model = Model(10)
    assert finished(charging(Writer(model, 0), SPACE, 10)) == FlowBudget(10, 10, 1)
    with pytest.raises(BudgetExceeded) as refused:
        list(charging(Writer(model, 0), SPACE, 1))
    assert refused.value.code == "BUDGET_EXCEEDED"
    assert len(model.rows) == 1
    assert finished(charging(Writer(model, 0), SPACE, 0)).spent == 10


def full_chain(tip=bytes(32), taken=frozenset()):
    return BudgetReading(
        KEY, FlowBudget(10, 0, 1), (2**64 - 1, tip), frozenset().__contains__, taken.intersection
    )


def test_a_full_chain_takes_no_charge():
    class Full(Writer):
        def read(self):
            return full_chain()

    model = Model(10)
    with pytest.raises(ChainFull) as refused:
        list(charging(Full(model, 0), SPACE, 1))
    assert refused.value.code == "CHAIN_FULL"
    assert model.rows == []


def test_a_full_chain_takes_a_limit():
    [limit] = update_facts(Unsigned(), SPACE, full_chain(), BudgetUpdate(5, ()))
    assert (limit.variant, limit.content["limit"]) == ("FlowLimit", 5)
    # Writers that know one tip have one slot, and a slot that is taken is passed by.
    [again] = update_facts(Unsigned(), SPACE, full_chain(), BudgetUpdate(4, ()))
    [other] = update_facts(Unsigned(), SPACE, full_chain(b32(2)), BudgetUpdate(5, ()))
    [second] = update_facts(
        Unsigned(), SPACE, full_chain(taken=frozenset([limit.order])), BudgetUpdate(4, ())
    )
    assert again.order == limit.order
    assert len({limit.order, other.order, second.order}) == 3
    with pytest.raises(ChainFull):
        update_facts(Unsigned(), SPACE, full_chain(), BudgetUpdate(5, (1,)))


def test_a_slot_that_another_fact_holds_is_passed_by():
    model = Model(10)
    model.foreign = {charge_slot(SPACE, KEY, 0, bytes(32), attempt) for attempt in (0, 1)}
    finished(charging(Writer(model, 0), SPACE, 1))
    assert model.rows[0][0].slot == charge_slot(SPACE, KEY, 0, bytes(32), 2)


class Asked(Writer):
    """A writer that counts the queries for slots."""

    def __init__(self, model):
        super().__init__(model, 0)
        self.asked = []

    def read(self):
        reading = super().read()
        return replace(reading, taken=lambda slots: self.asked.append(len(slots)) or reading.taken(slots))


class Unsigned:
    """Facts as they are, in the place of signed ones."""

    def prepare(self, charge):
        return self.signed(
            relational(
                SPACE, "FlowCharge",
                {"context": SPACE.id, "src": KEY.src, "dst": KEY.dst, "epoch": KEY.epoch, "cost": charge.cost,
                 "nonce": charge.nonce, "prev": charge.prev},
                order=charge.slot, timestamp={"OrderClock": charge.time},
            )
        )  # fmt: skip

    def signed(self, fact):
        return fact


def first_slots(count):
    return {charge_slot(SPACE, KEY, 0, bytes(32), attempt) for attempt in range(count)}


def test_slots_that_facts_hold_are_passed_by_in_few_queries_and_at_last_the_charge_gives_up():
    most = sum(SLOT_BATCHES)
    for held, queries in ((0, 1), (1, 2), (64, 2), (65, 3), (most - 1, 3), (most, 3)):
        writer = Asked(Model(10, foreign=first_slots(held)))
        if held < most:
            assert planned_charge(writer.read(), SPACE, 1, None).slot in first_slots(held + 1) - first_slots(
                held
            )
        else:
            with pytest.raises(SlotsTaken) as refused:
                list(charging(writer, SPACE, 1))
            assert (refused.value.code, writer.model.rows) == ("SLOTS_TAKEN", [])
            assert isinstance(refused.value, ConcurrentUpdate)
        assert writer.asked == list(SLOT_BATCHES[:queries])


@pytest.mark.parametrize(("limit", "queries"), [(None, [1]), (5, [1, 1, 64])])
def test_an_update_of_many_charges_asks_for_the_slots_of_one_tip_alone(limit, queries):
    writer = Asked(Model(10))
    facts = update_facts(Unsigned(), SPACE, writer.read(), BudgetUpdate(limit, (3,) * 1_000))
    assert writer.asked == queries
    orders = [fact.order for fact in facts]
    assert len({*orders}) == len(facts) == 1_000 + (limit is not None)
    assert {*orders[: 1 + (limit is not None)]} == first_slots(1 + (limit is not None))
    charges = [fact.content for fact in facts if fact.variant == "FlowCharge"]
    bodies = [fact.body_id for fact in facts if fact.variant == "FlowCharge"]
    assert [each["nonce"] for each in charges] == list(range(1_000))
    assert [each["prev"] for each in charges] == [bytes(32), *bodies[:-1]]


def test_a_charge_gives_up_when_others_win_every_round():
    class Unlucky(Writer):
        def commit(self, prepared):
            if self.signed % 2:
                raise WriteConflict
            return False

    writer = Unlucky(Model(10), 0)
    with pytest.raises(ConcurrentUpdate) as refused:
        list(charging(writer, SPACE, 1))
    assert (refused.value.code, writer.signed) == ("CONCURRENT_UPDATE", ROUNDS)


def test_a_budget_is_joined_with_the_wanted_one():
    now = FlowBudget(100, 10, 3)
    assert budget_update(now, FlowBudget(100, 10, 3)) == BudgetUpdate(None, ())
    assert budget_update(now, FlowBudget(200, 13, 3)) == BudgetUpdate(None, (3,))
    most = 2**32 - 1
    assert budget_update(now, FlowBudget(50, 10 + 2 * most + 1, 3)) == BudgetUpdate(50, (most, most, 1))
    assert len(budget_update(now, FlowBudget(100, 10 + 1000 * most, 3)).costs) == 1000
    with pytest.raises(ValueError, match="1000 charges"):
        budget_update(now, FlowBudget(100, 11 + 1000 * most, 3))
    for wanted, code in (
        ((100, 9, 3), "SPENT_DECREASE"),
        ((100, 10, 2), "STALE_EPOCH"),
        ((0, 0, 4), "UNKNOWN_EPOCH"),
    ):
        with pytest.raises(UsageError) as refused:
            budget_update(now, FlowBudget(*wanted))
        assert refused.value.code == code
        assert "nothing was written" in refused.value.message


def test_a_merge_takes_what_is_admitted_and_names_the_rest():
    known = [*KNOWN, G]
    good, waiting, bad = charge(0x10, 1), charge(0x11, 1, by="v"), charge(0x12, 1, epoch=9)
    target = Journal(NAMESPACE, [G])
    merged = merge_facts(target, Journal(NAMESPACE, [good, bad, waiting]), KNOWN)
    assert set(merged.journal.facts) == {G, good, waiting}
    assert [each.reasons for each in merged.rejected.values()] == [("CHARGE_EPOCH",)]
    by_states = merge_facts(target, Journal(NAMESPACE, [good, bad, waiting]), [G], admit(KNOWN).states)
    assert (by_states.journal, by_states.rejected) == (merged.journal, merged.rejected)
    alone = merge_facts(target, Journal(NAMESPACE, [good]))
    assert (set(alone.deferred), alone.journal) == ({good.fact_id}, target)
    with pytest.raises(NamespaceMismatch):
        merge_facts(target, Journal(U, facts().values()), known)


def test_a_merge_takes_operations_of_an_authority_of_which_others_were_pruned():
    operations = [*admit(facts().values()).operations.values()]
    plan = plan_authority(U, operations, (), states()["Kp"], None, 0)
    gone = {each.record_id for each in plan.prune}
    kept = [fact for fact in facts().values() if fact.fact_id not in gone]
    assert len(kept) == 3
    pruned = {U: pruned_after(operations, plan, None)}
    next_one, late = signed("Kp", RemoveLeaf(1, 0), 0x51, K2), signed("A1", RemoveLeaf(1, 0), 0x52)
    merged = merge_facts(Journal(U, kept), Journal(U, [next_one, late]), kept, {}, pruned)
    assert set(merged.journal.facts) == {*kept, next_one}
    assert {id_: each.reasons for id_, each in merged.rejected.items()} == {late.fact_id: ("BELOW_SNAPSHOT",)}
    assert merged.deferred == {}


def test_refinements_must_count_and_leave_something():
    target = Journal(NAMESPACE, [G, refinement(0x10, "v", actions=["a", "b"])])

    def refined(*given):
        return refine_caps(target, Journal(NAMESPACE, given), chains())

    first, second = refinement(0x11, "v", actions=["a"]), refinement(0x12, "uv", epoch_max=3)
    assert len(refined(first, second)) == 4
    with pytest.raises(PermissionDenied) as refused:
        refined(refinement(0x13, "u", actions=["a"]))
    assert refused.value.code == "ATTEST_INSUFFICIENT"
    for empty in (refinement(0x14, "v", actions=["c"]), refinement(0x15, "v", epoch_min=4, epoch_max=3)):
        with pytest.raises(PermissionDenied) as refused:
            refined(empty)
        assert refused.value.code == "CAPS_EMPTY"
    with pytest.raises(NotARefinement) as refused:
        refined(charge(0x16, 1))
    assert refused.value.code == "NOT_A_REFINEMENT"
    with pytest.raises(NamespaceMismatch):
        refine_caps(target, Journal(U, []), chains())
    assert len(target) == 2

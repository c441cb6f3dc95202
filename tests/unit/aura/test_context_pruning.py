"""Facts of contexts go only if that changes no answer, now or ever: vectors, wrong rules, histories."""

import random
from dataclasses import replace

import pytest

from strandline.core.hashing import set_hash
from strandline.core.pruning import snapshot_id
from strandline.dialects.aura.reduce.contexts import holds, pruning, reduce_context, skeletons
from strandline.dialects.aura.reduce.contexts.flows import MOST, Flow, FlowKey
from support.aura_cases import U, b32
from support.context_cases import chains, context_vectors, of_context, pruning_context, reattested
from support.context_lakes import ALL_KINDS, CHANNELS, GENESIS, Chains, ContextLake, Facts
from support.laws import IS_QUICK

VECTORS = context_vectors()["pruning"]
FACTS = pruning_context()
SPACE = FACTS["g"].namespace
NAMES = {fact.fact_id: name for name, fact in FACTS.items()}


def planned(finals=None, **more):
    more = {"skip_window": 2} | more
    return pruning.plan_context(
        SPACE, FACTS.values(), chains(), chains() if finals is None else finals, **more
    )


def names(members):
    return " ".join(sorted(NAMES[each.record_id] for each in members))


def test_the_plan_of_the_vectors():
    plan = planned()
    assert names(plan.prune) == VECTORS["prune_names"]
    assert plan.holds == VECTORS["holds"]
    assert plan.kinds == {"AmpChannelCheckpoint": 7, "AmpProposedChannelEpochBump": 1, "FlowCharge": 3}
    assert plan.carry.hex() == VECTORS["carry"]
    [f0] = [each for each in plan.prune if NAMES[each.record_id] == "f0"]
    assert (f0.skeleton.hex(), f0.alt_id.hex(), f0.generation) == (
        VECTORS["skeleton_f0"],
        VECTORS["f0_body"],
        0,
    )
    assert {each.skeleton is None for each in plan.prune if each.kind != "FlowCharge"} == {True}
    covered, gone = (set_hash(each.record_id for each in group) for group in (plan.members, plan.prune))
    assert (covered.hex(), gone.hex()) == (VECTORS["members"], VECTORS["prune"])
    proof = pruning.prove_context(SPACE, FACTS.values(), chains(), plan)
    assert proof.equal
    assert proof.before.hex() == VECTORS["state_hash"]
    made = {"sequence": 1, "base": None, "state_hash": proof.before, "members": covered, "prune": gone}
    assert snapshot_id(namespace=SPACE.text, carry=plan.carry, **made).hex() == VECTORS["snapshot_id"]


def test_without_final_states_only_charges_go():
    plan = planned({})
    assert names(plan.prune) == "f0 f1 f3"
    assert plan.holds == VECTORS["holds_without_finals"]


def test_a_plan_without_its_carry_is_not_proved():
    proof = pruning.prove_context(
        SPACE, FACTS.values(), chains(), replace(planned(), carry=skeletons.encode_carry(()))
    )
    assert (proof.equal, proof.after.hex()) == (False, VECTORS["without_carry"])
    assert [each.split()[0] for each in proof.differences] == ["flow_budget"]


def test_a_late_copy_of_a_pruned_charge_does_not_count_and_may_go():
    plan = planned()
    gone = {each.record_id for each in plan.prune}
    before = pruning.Pruned(skeletons.decode_carry(plan.carry), frozenset(each.alt_id for each in plan.prune))
    copy = reattested(FACTS["f0"], "uv")
    assert copy.fact_id.hex() == VECTORS["f0_and_v"]
    held = [*(fact for fact in FACTS.values() if fact.fact_id not in gone), copy]
    state = reduce_context(SPACE, held, chains(), before.carry, before.absorbed)
    assert state.state_hash.hex() == VECTORS["state_hash"]
    again = pruning.plan_context(SPACE, held, chains(), chains(), before, 2)
    assert [each.record_id for each in again.prune] == [copy.fact_id]
    assert again.carry == plan.carry
    assert pruning.prove_context(SPACE, held, chains(), again, before).equal


def test_the_only_checkpoint_of_a_later_epoch_ends_it_and_a_charge_without_its_sender_is_unmet():
    amp = {"channel": b32(0xDD), "window": 4, "skip_window_override": 4}
    alone = of_context(
        "AmpChannelCheckpoint", 0x70, namespace=SPACE, chan_epoch=2, base_gen=8, ck_commitment=b32(8), **amp
    )
    unmet = reattested(FACTS["f4"], "v")
    held = [*(fact for name, fact in FACTS.items() if name != "f4"), alone, unmet]
    plan = pruning.plan_context(SPACE, held, chains(), chains(), skip_window=2)
    holds = {each.record_id: each.hold for each in plan.members}
    assert (holds[alone.fact_id], holds[unmet.fact_id]) == ("EPOCH_END", "UNMET")
    assert pruning.prove_context(SPACE, held, chains(), plan).equal


def test_a_context_without_its_genesis_lets_nothing_go():
    rest = [fact for name, fact in FACTS.items() if name != "g"]
    plan = pruning.plan_context(SPACE, rest, chains(), chains(), skip_window=0)
    assert plan.prune == ()


@pytest.mark.large
def test_the_carry_of_a_context_with_many_budgets_is_read_back():
    flows = tuple(
        Flow(FlowKey(b"\x01" * 16, b"\x02" * 16, epoch), 1, 1, (1, b"\x03" * 32)) for epoch in range(40_000)
    )
    assert skeletons.decode_carry(skeletons.encode_carry(flows)) == flows


def test_skeletons_and_carries_are_read_back_and_nothing_else_is_one():
    flow = Flow(FlowKey(b"\x01" * 16, b"\x02" * 16, MOST), MOST, MOST, (MOST, b"\x03" * 32))
    other = Flow(FlowKey(b"\x01" * 16, b"\x03" * 16, 0), 0, 1, (0, bytes(32)))
    raw = skeletons.encode_carry([other, flow])
    assert skeletons.decode_carry(raw) == (flow, other)
    for broken in (
        raw[:-1], raw + b"\x00", b"", b"\xa0", raw.replace(b"flow", b"flew"), raw.replace(b"\x61v\x01", b"\x61v\x02"),
        skeletons.encode_carry([flow])[:9] + b"\xf6", raw.replace(b"\x02" * 16, b"\x04" * 16),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            skeletons.decode_carry(broken)
    charge = bytes.fromhex(VECTORS["skeleton_f0"])
    assert skeletons.decode_skeleton(charge, bytes(32)).key == FlowKey(U.id, flow_of("f0")["dst"], 1)
    for broken in (charge[:-1], charge + b"\x00", b"\x80", b"", charge[:-1] + b"\x20", charge[:-1] + b"\xf5"):
        with pytest.raises(ValueError):
            skeletons.decode_skeleton(broken, bytes(32))


def flow_of(name):
    return FACTS[name].content


class Wrong:
    """Rules that look right, each with what makes a difference."""

    def __init__(self, patch):
        self.patch = patch

    def ordinary_view(self):
        """(a) E and peers of the ordinary view."""
        plan = ContextLake.plan
        self.patch.setattr(
            ContextLake, "plan", lambda lake, now, finals, window=0: plan(lake, now, now, window)
        )

    def no_epoch_start(self):
        """(b)"""
        self.patch.setattr(holds.View, "has_earlier", lambda view, body: True)

    def no_epoch_end(self):
        """(c)"""
        self.patch.setattr(holds.View, "has_later", lambda view, body: True)

    def greater_by_commitment(self):
        """(d) a peer that is greater by ck_commitment at an equal generation."""

        def has_later(view, body):
            def rank(each):
                return each.content["base_gen"], each.content["ck_commitment"]

            peers = [each for each in view.checkpoints if holds.peers_of(each) == holds.peers_of(body)]
            return any(rank(each) > rank(body) for each in peers)

        self.patch.setattr(holds.View, "has_later", has_later)

    def peers_of_the_channel(self):
        """(e)"""
        self.patch.setattr(holds, "peers_of", lambda body: (body.content["channel"], 0))

    def parent_at_the_epoch(self):
        """(f)"""
        self.patch.setattr(holds, "can_prune_proposed_bump", lambda parent, committed: parent <= committed)

    def carry_by_maximum(self):
        """(g)"""

        def carried(charges, before=()):
            flows = {each.key: each for each in before}
            for body in charges:
                charge = skeletons.decode_skeleton(skeletons.encode_skeleton(body), body.body_id)
                old = flows.get(charge.key, charge)
                flows[charge.key] = replace(charge, spent=max(charge.spent, old.spent))
            return tuple(flows.values())

        self.patch.setattr(pruning, "carried", carried)

    def absorb_by_record_id(self):
        """(h)"""

        def before(lake):
            return pruning.Pruned(skeletons.decode_carry(lake.carry))

        self.patch.setattr(ContextLake, "before", property(before))

    def unmet_charges(self):
        """(i)"""
        of_charge = holds.Holds.of_charge

        def wrong(rules, body):
            found = of_charge(rules, body)
            return None if found == "UNMET" else found

        self.patch.setattr(holds.Holds, "of_charge", wrong)


CHANNEL = {"checkpoint": 8, "consensus": 4, "committed": 4, "proposed": 4}
ONE = {"channels": CHANNELS[:1], "bumps": CHANNELS[:1]}
RULES = {
    "ordinary_view": (CHANNEL, {"final_rate": 0.6}),
    "no_epoch_start": (
        {"checkpoint": 8, "proposed": 2},
        {
            "epochs": (0,), "parents": (0,), "generations": (0, 30, 31), "windows": (4,), "reasons": ("Routine",),
            "final_rate": 1,
        } | ONE,
    ),
    "no_epoch_end": ({"checkpoint": 8, "consensus": 4, "committed": 4}, {"epochs": (0, 1, 2), "final_rate": 0.9}),
    "greater_by_commitment": (
        {"checkpoint": 8, "consensus": 1, "committed": 1},
        {"epochs": (0, 1), "generations": (5, 9), "parents": (0,), "windows": (0,), "final_rate": 1} | ONE,
    ),
    "peers_of_the_channel": (CHANNEL, {"final_rate": 0.9}),
    "parent_at_the_epoch": ({"proposed": 6, "checkpoint": 1}, {"final_rate": 0.9}),
    "carry_by_maximum": ({"charge": 8}, {}),
    "absorb_by_record_id": ({"charge": 8}, {}),
    "unmet_charges": ({"charge": 8}, {}),
}  # fmt: skip


def history(seed, weights=None, *, is_proved=False, **choices):
    """A lake after some rounds of facts, settled states, pruning, copies and forks; gives it after each step."""
    draw = random.Random(seed)
    source, chains_, lake = Facts(f"{seed} facts", weights, **choices), Chains(draw), ContextLake()
    lake.ingest([GENESIS])
    for _ in range(draw.randint(2, 4)):
        lake.ingest(source.some(draw.randint(3, 30)))
        chains_.move()
        chains_.settle()
        yield lake, chains_, None
        plan = lake.plan(chains_.now, chains_.finals, draw.choice((0, 0, 1)))
        assert not is_proved or lake.is_proved(plan, chains_.now)
        lake.prune(plan, is_killed=draw.random() < 0.3)
        yield lake, chains_, plan
        lake.ingest(draw.sample(source.made, len(source.made) // 3))
        chains_.move()
        yield lake, chains_, None
    lake.finish()
    yield lake, chains_, None


def first_failure(name, patch, seeds):
    weights, choices = RULES[name]
    getattr(Wrong(patch), name)()
    for seed in seeds:
        for lake, chains_, _ in history(seed, weights, **choices):
            if lake.differences(chains_.now):
                return seed
    return None


@pytest.mark.large
@pytest.mark.parametrize("name", RULES)
def test_a_wrong_rule_is_caught_by_its_own_histories(name, monkeypatch):
    assert first_failure(name, monkeypatch, range(200)) is not None


@pytest.mark.large
@pytest.mark.parametrize("part", range(2))
def test_no_history_of_facts_copies_forks_prunings_and_kills_changes_an_answer(part):
    count = pruned = 0
    for seed in range(part, 24 if IS_QUICK else 300, 2):
        for lake, chains_, plan in history(seed, ALL_KINDS, is_proved=True):
            lake.assert_whole(chains_.now)
            if plan:
                count += 1
                pruned += len(plan.prune)
    assert pruned > count

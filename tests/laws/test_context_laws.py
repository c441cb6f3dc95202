"""Laws of contexts: neither order, nor repetition, nor splits change a state; what restricts never loosens."""

from random import Random

import pytest

from strandline.dialects.aura.author import generate_contexts
from strandline.dialects.aura.reduce import Journal, reduce_authority
from strandline.dialects.aura.reduce.contexts import authority_chain, meet, reduce_context
from strandline.dialects.aura.types import FactDocument
from strandline.dialects.aura.verify import admit, judge
from support.context_reference import by_namespace
from support.laws import IS_QUICK

CONTEXTS, FACTS = 24 if IS_QUICK else 120, 60


class World:
    """Accepted facts, by namespace, and the chains of authorities."""

    def __init__(self, facts):
        self.given = list(facts)
        self.verdicts = admit(self.given).verdicts
        accepted = {
            fact.fact_id: fact for fact in self.given if self.verdicts[fact.fact_id].status == "accepted"
        }
        journals = by_namespace(accepted.values())
        self.authorities = {space: given for space, given in journals.items() if space.kind == "authority"}
        self.contexts = {space: given for space, given in journals.items() if space.kind == "context"}
        self.chains = {
            space.id: authority_chain(reduce_authority(space, given))
            for space, given in self.authorities.items()
        }

    def without_last_operations(self):
        """The chains when each authority lacks its newest operations: histories as they were before."""
        return {
            space.id: authority_chain(reduce_authority(space, given[: len(given) // 2 + 1]))
            for space, given in self.authorities.items()
        }


@pytest.fixture(scope="module")
def world():
    return World(
        generate_contexts(
            11, contexts=CONTEXTS, members=3, facts=FACTS, fork_rate=0.3, unmet_rate=0.2, bad_rate=0.05,
            duplicate_rate=0.2,
        )
    )  # fmt: skip


def reduced(world):
    return {space: reduce_context(space, given, world.chains) for space, given in world.contexts.items()}


@pytest.mark.large
def test_the_contexts_are_worth_reducing(world):
    states = list(reduced(world).values())
    channels = [channel for state in states for channel in state.channels]
    flows = [flow for state in states for flow in state.flows]
    bindings = [binding for state in states for binding in state.bindings]
    caps = [each for state in states for each in state.capabilities]
    unmet = sum(len(state.bodies) - sum(map(len, state.met.values())) for state in states)
    assert len(states) == CONTEXTS
    assert {channel.epoch for channel in channels} >= {0, 1, 2}
    assert any(channel.pending for channel in channels)
    assert any(channel.dormant for channel in channels)
    assert any(channel.forks for channel in channels)
    assert any(channel.unproven for channel in channels)
    assert any(channel.is_checkpoint_disputed for channel in channels)
    assert {channel.window_source for channel in channels} == {"checkpoint", "policy", "default"}
    assert any(flow.is_overdrawn for flow in flows)
    assert {flow.is_unbroken for flow in flows} == {True, False}
    assert {binding.binding_type for binding in bindings} == {"GuardianBinding", "RecoveryGrant", "Generic"}
    assert any(binding.duplicates for binding in bindings)
    assert any(binding.generic_type == "consensus" for binding in bindings)
    assert any(binding.consensus_ids for binding in bindings)
    assert any(each.refinements > 1 for each in caps)
    assert unmet > CONTEXTS
    assert {each.status for each in world.verdicts.values()} == {"accepted", "rejected", "deferred"}


def test_any_order_and_repetition_gives_one_state(world):
    chance = Random(1)
    for space, state in reduced(world).items():
        given = world.contexts[space] + chance.choices(world.contexts[space], k=5)
        chance.shuffle(given)
        again = reduce_context(space, given, world.chains)
        assert (again.state_hash, again.rows) == (state.state_hash, state.rows)
        assert [body.fact for body in again.bodies] == [body.fact for body in state.bodies]


def test_any_split_of_the_input_admits_the_same_facts(world):
    chance = Random(2)
    given = world.given[:]
    chance.shuffle(given)
    border = len(given) // 2
    first = judge([FactDocument(fact, 0) for fact in given[:border]])
    second = judge([FactDocument(fact, 0) for fact in given[border:]], first.accepted)
    accepted = {id_ for id_, each in world.verdicts.items() if each.status == "accepted"}
    assert set(second.accepted.facts) == accepted
    waiting = {id_ for id_, each in world.verdicts.items() if each.status == "deferred"}
    assert set(second.accepted.waiting) == waiting


def assert_restricts(before, after):
    """Spent, charges and tips never shrink; limits and capabilities never widen."""
    flows = {flow.key: flow for flow in after.flows}
    for flow in before.flows:
        later = flows[flow.key]
        assert (later.spent, later.charges) >= (flow.spent, flow.charges)
        assert (later.tip or (-1, b"")) >= (flow.tip or (-1, b""))
        assert flow.limit is None or later.limit <= flow.limit
    caps = {each.subject: each.cap for each in after.capabilities}
    for each in before.capabilities:
        assert meet(caps[each.subject], each.cap) == caps[each.subject]


def test_more_facts_only_restrict_more(world):
    chance = Random(3)
    for space, state in reduced(world).items():
        given = world.contexts[space][:]
        chance.shuffle(given)
        genesis = [fact for fact in given if fact.variant == "ContextGenesis"]
        part = reduce_context(space, [*genesis, *given[: len(given) // 2]], world.chains)
        assert_restricts(part, state)
        epochs = state.channel_epochs
        assert all(channel.epoch <= epochs[channel.channel].epoch for channel in part.channels)


def test_a_lost_state_gives_nothing_back(world):
    lost = world.without_last_operations()
    changed = 0
    for space, state in reduced(world).items():
        before = reduce_context(space, world.contexts[space], lost)
        assert_restricts(state, before)
        assert_restricts(before, state)
        changed += before.state_hash != state.state_hash
    assert changed > CONTEXTS // 4


def test_replicas_that_charge_apart_have_the_sum_of_all_charges(world):
    chance = Random(4)
    for space, given in world.contexts.items():
        genesis = [fact for fact in given if fact.variant == "ContextGenesis"]
        halves = [], []
        for fact in given:
            chance.choice(halves).append(fact)
        left, right = (Journal(space, [*genesis, *half]) for half in halves)
        union = reduce_context(space, left.join(right).facts, world.chains)
        expected = {}
        bodies = {fact.body_id: fact for fact in given if fact.variant == "FlowCharge"}
        for fact in bodies.values():
            content = fact.content
            attestors = {
                each.authority for copy in given if copy.body_id == fact.body_id for each in copy.attest
            }
            if content["src"] in attestors:
                key = content["src"], content["dst"], content["epoch"]
                expected[key] = expected.get(key, 0) + content["cost"]
        assert union.flow_budgets == expected


def test_a_state_depends_on_the_chains_of_its_members_alone(world):
    for space, state in list(reduced(world).items())[:10]:
        theirs = {authority: chain for authority, chain in world.chains.items() if authority in state.members}
        again = reduce_context(space, world.contexts[space], theirs)
        assert (again.rows, again.tips) == (state.rows, state.tips)

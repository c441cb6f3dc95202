"""A walk through the states of an authority finds each state as its operation made it, however the history forks."""

import random

import pytest

from strandline.dialects.aura import author
from strandline.dialects.aura.types import (
    ANY,
    AddLeaf,
    ChangePolicy,
    LeafNode,
    Policy,
    RekeyLeaf,
    RemoveLeaf,
    RotateEpoch,
)
from strandline.dialects.aura.verify import EMPTY, Walk, state_after
from support.aura_cases import K1

PLACE = {"order": bytes(32), "timestamp": {"OrderClock": bytes(32)}}


def operations(chance, state):
    """Yield one operation of each kind that fits a state."""
    key = chance.randbytes(32)
    yield AddLeaf(LeafNode(state.next_leaf_id, bytes(16), "Device", key, b""), 0)
    if state.leaves:
        yield RemoveLeaf(chance.choice([*state.leaves]), 0)
        yield RekeyLeaf(chance.choice([*state.leaves]), key)
    needed = state.policy.m + 1 if state.policy.kind == "Threshold" else 2
    if needed < 4:
        yield ChangePolicy(0, Policy("Threshold", needed, 9))
    yield RotateEpoch((), None)


class Forest:
    """A random history: its states by commitment, and the operations that lead on from each."""

    def __init__(self, seed, count):
        chance = random.Random(seed)
        first = author.genesis(
            K1, min_signers=1, max_signers=9, policy=ANY, salt=chance.randbytes(16), signer_count=9, **PLACE
        )
        self.start = state_after(EMPTY, first)
        self.states, self.children = {self.start.commitment: self.start}, {}
        while len(self.states) < count:
            parent = chance.choice([*self.states.values()][-chance.choice((1, 6, count)) :])
            operation = chance.choice([*operations(chance, parent)])
            made = author.append(first.namespace, parent, operation, signer=K1, signer_count=9, **PLACE)
            state = state_after(parent, made)
            if state.commitment in self.states:
                continue
            self.states[state.commitment] = state
            self.children.setdefault(parent.commitment, []).append((made.attested.op, state))


@pytest.mark.parametrize("seed", range(20))
def test_each_state_of_a_forked_history_is_visited_once_and_as_its_operation_made_it(seed):
    forest = Forest(seed, 60)
    visited = set()
    walk = Walk(forest.start)
    for state in walk.states():
        made = forest.states[state.commitment]
        assert state == made
        assert list(state.leaves.items()) == list(made.leaves.items())
        assert (state.tree.epoch, state.tree.threshold, state.tree.levels) == (
            made.tree.epoch, made.tree.threshold, made.tree.levels
        )  # fmt: skip
        assert state.commitment not in visited
        visited.add(state.commitment)
        for op, following in forest.children.get(state.commitment, ()):
            walk.follow(op, following)
    assert visited == forest.states.keys()


def test_a_walk_applies_and_takes_back_each_operation_at_most_once(monkeypatch):
    forest, calls = Forest(7, 200), []
    module = "strandline.dialects.aura.verify.walk"
    for name in ("apply_op", "updated_tree"):
        inner = getattr(__import__(module, fromlist=[name]), name)
        monkeypatch.setattr(
            f"{module}.{name}", lambda *given, inner=inner, name=name: calls.append(name) or inner(*given)
        )
    walk = Walk(forest.start)
    for state in walk.states():
        for op, following in forest.children.get(state.commitment, ()):
            walk.follow(op, following)
    assert calls.count("apply_op") < 200
    assert calls.count("updated_tree") < 200

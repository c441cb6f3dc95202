"""States and trees: what was computed step by step is what would be computed from nothing, and limits hold."""

from dataclasses import replace
from math import ceil, log2
from random import Random

import pytest

from strandline.dialects.aura.types import (
    ALL,
    ANY,
    OP_VERSION,
    AddLeaf,
    ChangePolicy,
    Policy,
    RekeyLeaf,
    RemoveLeaf,
    RotateEpoch,
    TreeOp,
)
from strandline.dialects.aura.verify import EMPTY, Draft, apply_op, check_attested_op, committed
from strandline.dialects.aura.verify.policies import is_stricter, meet, required_signers, threshold
from strandline.dialects.aura.verify.tree import (
    branch_hash,
    branch_policy,
    first_index,
    full_tree,
    leaf_hash,
    level_sizes,
    node_count,
    updated_tree,
)
from support.aura_attacks import leaf
from support.aura_cases import after, b32, genesis

START = after(EMPTY, genesis())
EVERY_POLICY = [ANY, ALL, *(Policy("Threshold", m, n) for n in range(2, 13) for m in range(1, n))]


def op(state, operation):
    return TreeOp(operation, state.commitment, state.epoch, OP_VERSION)


def step(state, operation):
    return apply_op(state, op(state, operation), b32(state.height % 251 + 1))


def codes(state, operation):
    return [finding.reason for finding in check_attested_op(state, op(state, operation))]


def many(count):
    leaves = {
        number: replace(leaf(number, 0), public_key=number.to_bytes(32, "little")) for number in range(count)
    }
    return committed(replace(START, leaves=leaves, next_leaf_id=count))


def slow_root(keys, epoch, needed):
    """The root of the tree over keys by leaf id, by recursion over nodes: (level, position)."""
    ids = sorted(keys)
    if not ids:
        return bytes(32)
    sizes = level_sizes(len(ids))

    def node(level, position):
        if level == 0:
            return leaf_hash(ids[position], epoch, keys[ids[position]])
        right = min(2 * position + 1, sizes[level - 1] - 1)
        return branch_hash(
            first_index(len(ids), level) + position,
            epoch,
            branch_policy(len(ids), needed, level, position),
            node(level - 1, 2 * position),
            node(level - 1, right),
        )

    return node(len(sizes) - 1, 0)


def some_operation(chance, state):
    ids = list(state.leaves)
    kinds = ["add", "add", "policy", "rotate"] + (["remove", "rekey", "rekey", "remove"] if ids else [])
    kind = chance.choice(kinds)
    if kind == "add":
        return AddLeaf(replace(leaf(state.next_leaf_id, 0), public_key=chance.randbytes(32)), 0)
    if kind == "remove":
        return RemoveLeaf(chance.choice(ids), 0)
    if kind == "rekey":
        return RekeyLeaf(chance.choice(ids), chance.randbytes(32))
    if kind == "policy":
        return ChangePolicy(0, meet(state.policy, chance.choice(EVERY_POLICY)))
    return RotateEpoch((), None) if chance.random() < 0.3 else RemoveLeaf(ids[-1], 0) if ids else None


@pytest.mark.large
def test_a_tree_that_follows_operations_is_the_tree_made_from_nothing():
    chance = Random(3)
    for _ in range(30):
        state = many(chance.choice([0, 1, 2, 3, 7, 8, 9, 31, 33, 100, 200]))
        state = replace(state, policy=chance.choice(EVERY_POLICY))
        state = committed(state)
        for _ in range(12):
            operation = some_operation(chance, state)
            if operation is None or codes(state, operation):
                continue
            before, state = state, step(state, operation)
            full = full_tree(list(state.leaves.values()), state.epoch, state.threshold)
            assert state.tree.levels == full.levels, (before.tree.leaf_count, operation)
            keys = {name: each.public_key for name, each in state.leaves.items()}
            assert state.tree.root == slow_root(keys, state.epoch, state.threshold)
            draft = Draft(before)
            draft.apply(op(before, operation), state.op_id)
            assert draft.committed(None, range(0)) == state
            assert committed(before) == before


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 100, 129, 2048])
def test_a_new_key_hashes_one_branch_a_level(count):
    state = many(count)
    for position in {0, count // 2, count - 1}:
        found = step(state, RekeyLeaf(position, b32(0xEE)))
        assert found.tree.branch_hashes == max(1, ceil(log2(count)))


def test_only_branches_whose_policy_changes_are_hashed_by_a_policy():
    # Of 5 leaves 3 instead of 4: the branch of four leaves and the root; those of one and two ask for all as before.
    leaves = list(many(5).leaves.values())
    four = full_tree(leaves, 0, 4)
    three = updated_tree(four, leaves, 0, 3, range(0))
    assert three.levels == full_tree(leaves, 0, 3).levels
    assert three.branch_hashes == 2
    assert updated_tree(three, leaves, 0, 3, range(0)).branch_hashes == 0


def test_branches_are_numbered_from_the_root():
    assert [level_sizes(count) for count in (0, 1, 2, 3, 5)] == [
        (), (1, 1), (2, 1), (3, 2, 1), (5, 3, 2, 1)
    ]  # fmt: skip
    assert [node_count(count) for count in (0, 1, 2, 3, 5)] == [1, 1, 1, 3, 6]
    assert [first_index(5, level) for level in (3, 2, 1)] == [0, 1, 3]


def test_the_root_of_a_branch_covers_epoch_and_index():
    seen = set()
    for count in (1, 2, 3, 4):
        for epoch in (0, 1):
            for needed in (1, 2):
                leaves = [leaf(number, number) for number in range(count)]
                seen.add(full_tree(leaves, epoch, needed).commitment())
    assert len(seen) == 16


def test_the_stricter_policy_never_asks_for_fewer():
    for one in EVERY_POLICY:
        assert meet(one, one) == one
        assert not is_stricter(one, one)
        for other in EVERY_POLICY:
            stricter = meet(one, other)
            assert stricter == meet(other, one)
            assert (one == other) or is_stricter(one, other) != is_stricter(other, one)
            if stricter == one:
                assert all(threshold(one, c) >= threshold(other, c) for c in (0, 1, 2, 3, 5, 7, 12, 100))
    chance = Random(4)
    for _ in range(500):
        a, b, c = chance.choices(EVERY_POLICY, k=3)
        assert meet(a, meet(b, c)) == meet(meet(a, b), c)


def test_a_policy_beyond_the_key_does_not_lock_it_out():
    key = genesis().attested.op.operation.key
    assert (key.min_signers, key.max_signers) == (2, 3)
    assert [required_signers(key, ALL, leaves) for leaves in range(6)] == [2, 2, 2, 3, 3, 3]
    assert [required_signers(key, ANY, leaves) for leaves in range(6)] == [2] * 6
    assert EMPTY.required == 0


def test_the_most_leaves():
    full = many(4096)
    assert codes(full, AddLeaf(leaf(4096, 1), 0)) == ["LEAF_LIMIT"]
    assert codes(step(full, RemoveLeaf(0, 0)), AddLeaf(leaf(4096, 1), 0)) == []
    assert codes(many(4095), AddLeaf(leaf(4095, 1), 4094)) == []
    assert codes(many(4095), AddLeaf(leaf(4095, 1), 4095)) == ["NODE_UNKNOWN"]
    [finding] = check_attested_op(many(4095), op(many(4095), AddLeaf(leaf(4095, 1), 4095)))
    assert finding.evidence == {"expected": "below 4095", "actual": 4095}


def test_the_last_epoch():
    last = replace(START, epoch=2**64 - 1)
    assert codes(last, RotateEpoch((), None)) == ["EPOCH_OVERFLOW"]
    assert codes(replace(START, epoch=2**64 - 2), RotateEpoch((), None)) == []


def test_a_leaf_id_never_comes_again():
    one = step(START, AddLeaf(leaf(0, 1), 0))
    none = step(one, RemoveLeaf(0, 0))
    assert (none.tree_commitment, none.next_leaf_id) == (START.tree_commitment, 1)
    assert none.commitment != START.commitment
    assert codes(none, AddLeaf(leaf(0, 1), 0)) == ["LEAF_ID_NOT_NEXT"]
    assert codes(none, AddLeaf(leaf(1, 1), 0)) == []


def test_a_rotation_moves_the_epoch_and_the_key():
    same = step(START, RotateEpoch((), None))
    assert (same.epoch, same.key, same.key_epoch) == (1, START.key, 0)
    key = replace(START.key, min_signers=1)
    other = step(same, RotateEpoch((0,), key))
    assert (other.epoch, other.key, other.key_epoch, other.height) == (2, key, 2, 3)

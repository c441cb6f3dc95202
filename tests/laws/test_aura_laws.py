"""Laws of authorities: order, repetition and splits of facts change nothing; every way to reduce gives one state."""

from random import Random

import pytest

from strandline.dialects.aura.author import generate
from strandline.dialects.aura.codec import parse_fact_cbor, parse_fact_text, to_json
from strandline.dialects.aura.reduce import Journal, forks, reduce_authority, reduce_columns
from strandline.dialects.aura.types import ZERO, FactDocument
from strandline.dialects.aura.verify import EMPTY, admit, apply_op, judge
from support.context_reference import by_namespace
from support.laws import IS_QUICK

AUTHORITIES, OPERATIONS = 24 if IS_QUICK else 200, 12


@pytest.fixture(scope="module")
def histories():
    """Facts of random authorities, good and bad, with the accepted operations of each."""
    facts = list(
        generate(
            7, authorities=AUTHORITIES, operations=OPERATIONS, fork_rate=0.3, bad_rate=0.1, duplicate_rate=0.2
        )
    )
    admitted = {}
    for namespace, given in by_namespace(facts).items():
        found = admit(given)
        admitted[namespace] = (given, list(found.operations.values()), found)
    return admitted


def fingerprint(found):
    return found.state_cbor, {
        op_id: (row.outcome, row.op.fact.fact_id, row.fact_count, row.siblings, row.lost_to)
        for op_id, row in found.chain.rows.items()
    }


def test_the_histories_are_worth_reducing(histories):
    accepted = [ops for _, ops, _ in histories.values()]
    reduced = [reduce_columns(namespace, ops) for namespace, (_, ops, _) in histories.items()]
    verdicts = [each.status for _, _, found in histories.values() for each in found.verdicts.values()]
    assert len(accepted) == AUTHORITIES
    assert verdicts.count("rejected") > AUTHORITIES // 2
    assert sum(bool(each.chain.forks) for each in reduced) > AUTHORITIES // 2
    assert sum(each.chain.count("orphaned") for each in reduced) > AUTHORITIES // 2
    assert {len(each.state.leaves) for each in reduced} >= {1, 2, 3}


def test_any_order_and_repetition_gives_one_state_by_every_way(histories):
    chance = Random(1)
    for namespace, (_, ops, _) in histories.items():
        expected = fingerprint(reduce_columns(namespace, ops))
        given = ops + chance.choices(ops, k=5)
        chance.shuffle(given)
        assert fingerprint(reduce_columns(namespace, given)) == expected
        full = reduce_authority(namespace, [op.fact for op in given])
        assert fingerprint(full) == expected
        assert full.invalid == {}


def test_any_split_of_the_input_admits_the_same_facts(histories):
    chance = Random(2)
    for given, _, found in list(histories.values())[: AUTHORITIES // 3]:
        shuffled = given[:]
        chance.shuffle(shuffled)
        border = chance.randrange(len(shuffled))
        first = judge([FactDocument(fact, 0) for fact in shuffled[:border]])
        second = judge([FactDocument(fact, 0) for fact in shuffled[border:]], first.accepted)
        accepted = {fact_id for fact_id, each in found.verdicts.items() if each.status == "accepted"}
        assert set(second.accepted.facts) == accepted
        assert second.accepted.waiting == {}
        assert second.admission.operations == found.operations


def test_a_new_operation_on_the_tip_needs_the_stored_state_alone(histories):
    for namespace, (_, ops, _) in histories.items():
        whole = reduce_columns(namespace, ops)
        path = whole.chain.path
        for cut in {0, len(path) // 2, len(path) - 1}:
            stored = reduce_columns(namespace, path[: cut + 1]).state
            found = reduce_columns(namespace, path[cut + 1 :], stored)
            assert found.state_cbor == whole.state_cbor
            assert [op.op_id for op in found.chain.path] == [op.op_id for op in path[cut + 1 :]]


def test_a_base_fences_the_history_before_it_and_stands_in_for_it(histories):
    chance = Random(3)
    for namespace, (_, ops, _) in list(histories.items())[: AUTHORITIES // 2]:
        states = all_states(ops)
        base = states[chance.choice(sorted(states))]
        whole = reduce_columns(namespace, ops, base)
        full = reduce_authority(namespace, [op.fact for op in ops], base)
        assert fingerprint(full) == fingerprint(whole)
        assert any(op.new_commitment == base.commitment for op in whole.chain.path)
        below = descendants(ops, base.commitment)
        assert reduce_columns(namespace, below, base).state_cbor == whole.state_cbor
        assert reduce_authority(namespace, [op.fact for op in below], base).state_cbor == whole.state_cbor


def all_states(ops):
    """Every state that the operations make, by commitment."""
    states = {ZERO: EMPTY}
    for op in ops:
        parent = states[op.attested.op.parent_commitment]
        states[op.new_commitment] = apply_op(parent, op.attested.op, op.op_id)
    del states[ZERO]
    return states


def descendants(ops, commitment):
    """The operations that follow a state; operations come with parents first."""
    known, found = {commitment}, []
    for op in ops:
        if op.attested.op.parent_commitment in known:
            known.add(op.new_commitment)
            found.append(op)
    return found


def test_journals_are_a_semilattice_and_their_state_is_that_of_the_union(histories):
    chance = Random(4)
    for namespace, (_, ops, _) in list(histories.items())[:20]:
        facts = [op.fact for op in ops]
        a, b, c = (Journal(namespace, chance.sample(facts, len(facts) // 2)) for _ in range(3))
        assert a.join(b) == b.join(a)
        assert a.join(b.join(c)) == a.join(b).join(c)
        assert a.join(a) == a
        whole = a.join(b).join(c)
        union = list({fact.fact_id: fact for one in (a, b, c) for fact in one.facts}.values())
        chance.shuffle(union)
        assert len(whole) == len(union)
        joined, given = reduce_authority(namespace, whole.facts), reduce_authority(namespace, union)
        assert (fingerprint(joined), joined.invalid) == (fingerprint(given), given.invalid)
        # With the facts that all three lack, it is the state of the whole history.
        full = whole.join(Journal(namespace, facts)).facts
        assert fingerprint(reduce_authority(namespace, full)) == fingerprint(reduce_columns(namespace, ops))


def test_every_fork_is_a_row_and_names_each_operation_once(histories):
    for namespace, (_, ops, _) in histories.items():
        children = {}
        for op in ops:
            children.setdefault(op.attested.op.parent_commitment, set()).add(op.op_id)
        chain = reduce_columns(namespace, ops).chain
        rows = list(forks(namespace, chain))
        assert len(rows) == sum(len(each) > 1 for each in children.values())
        assert sum(row.member_count for row in rows) == sum(
            len(each) for each in children.values() if len(each) > 1
        )


def test_facts_keep_their_bytes_through_json(histories):
    for given, _, _ in list(histories.values())[:20]:
        for fact in given:
            assert parse_fact_text(to_json(fact).encode()).cbor == fact.cbor
            assert parse_fact_cbor(fact.cbor) == fact


def test_one_flipped_bit_of_an_accepted_operation_is_not_accepted(histories):
    chance = Random(5)
    tried = 0
    for _, ops, _ in list(histories.values())[:10]:
        known = [op.fact for op in ops]
        ids = {fact.fact_id for fact in known}
        for fact in known:
            raw = bytearray(fact.cbor)
            bit = chance.randrange(8 * len(raw))
            raw[bit // 8] ^= 1 << bit % 8
            changed = parse_fact_cbor(bytes(raw))
            if hasattr(changed, "fact_id") and changed.fact_id not in ids:
                tried += 1
                assert admit([changed], known).verdicts[changed.fact_id].status != "accepted"
    assert tried > 10

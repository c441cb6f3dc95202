"""Snapshots as facts: which are sound, which is in force, and what false ones cost."""

import random
from types import SimpleNamespace

import pytest

from strandline.dialects.aura import author
from strandline.dialects.aura.reduce import plan_authority, reduce_authority, state_cbor
from strandline.dialects.aura.reduce.contexts import snapshot_comparison, snapshots
from strandline.dialects.aura.reduce.contexts.snapshot_covers import Covers
from strandline.dialects.aura.reduce.contexts.snapshot_states import StatePaths
from strandline.dialects.aura.reduce.contexts.snapshot_verdicts import PrunedHere
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots
from strandline.dialects.aura.reduce.pruning import pruned_after
from strandline.dialects.aura.reduce.state import state_hash
from strandline.dialects.aura.types import RemoveLeaf, RotateEpoch
from strandline.dialects.aura.verify import EMPTY
from support.aura_cases import (
    CHAIN,
    K1,
    K2,
    U,
    after,
    at,
    attested,
    b32,
    facts,
    genesis,
    other_authority,
    signed,
    states,
    vectors,
)
from support.context_cases import NAMESPACE, chains, context_vectors, named_facts, reduced
from support.effort import calls_of

MOST = 2**64 - 1
FACTS = facts()
PREFIXES = {
    "G": ("G",), "A0": ("G", "A0"),
    "A1": ("G", "A0", "A1"), "P": ("G", "A0", "A1", "P"), "Rp": ("G", "A0", "A1", "P", "Rp"),
    "Kp": ("G", "A0", "A1", "P", "Rp", "Kp"), "X": ("G", "A0", "A1", "X"), "Rx": ("G", "A0", "A1", "X", "Rx"),
}  # fmt: skip


def snapshot(number, tip, *, sequence=1, over=(), covers=None, state_hash=None, names=None):
    """A snapshot of u at one of its states: of the facts that lead there, or of `names`, and of other snapshots."""
    given = [FACTS[name] for name in (PREFIXES[tip] if names is None else names)]
    state = reduce_authority(
        U, [FACTS[name] for name in PREFIXES[tip]] if covers is None else covers
    ).state_hash
    fact = author.snapshot(
        U, sequence=sequence, state_hash=state_hash or state, supersedes=[*given, *over], **at(number)
    )
    key = K2 if tip in ("Rp", "Kp", "Rx") else K1
    return author.attest(fact, U.id, states()[tip].commitment, key)


def statuses(*given):
    """The statuses of snapshots of u, in the order of the arguments."""
    every = [*FACTS.values(), *given]
    found = judge_snapshots(U, every)
    assert judge_snapshots(U, reversed(every)).statuses == found.statuses
    return [found.statuses[fact.fact_id] for fact in given if fact.kind == "Snapshot"]


def test_the_snapshots_of_the_vectors():
    su = snapshot(0x32, "Kp", names=list(FACTS), covers=FACTS.values())
    assert su.fact_id.hex() == vectors()["su"]
    found = judge_snapshots(U, [*FACTS.values(), su])
    assert (found.statuses, found.in_force, found.base.commitment) == (
        {su.fact_id: "in_force"}, su, states()["Kp"].commitment
    )  # fmt: skip
    assert found.covered == {su.fact_id: 9}
    genesis = other_authority()
    whole = author.snapshot(
        genesis.namespace, sequence=1, state_hash=reduce_authority(genesis.namespace, [genesis]).state_hash,
        supersedes=[genesis], **at(0x41),
    )  # fmt: skip
    sv = attested(whole, "v")
    assert sv.fact_id.hex() == vectors()["sv"]
    assert judge_snapshots(genesis.namespace, [genesis, sv]).statuses == {sv.fact_id: "in_force"}


@pytest.mark.parametrize("name", ["hash of the full state", "hash of nothing", "attested at another state"])
def test_a_false_snapshot_is_unsound(name):
    full = reduce_authority(U, FACTS.values()).state_hash
    false = {
        "hash of the full state": snapshot(0x31, "Kp", names=("G", "A0"), state_hash=full),
        "hash of nothing": snapshot(0x31, "Kp", state_hash=bytes(32)),
        "attested at another state": snapshot(0x31, "Rp", names=PREFIXES["Kp"], state_hash=full),
    }[name]
    assert statuses(false) == ["unsound"]


def test_a_snapshot_waits_for_the_facts_that_it_names():
    absent = author.append(U, states()["Kp"], RemoveLeaf(1, 0), signer=K2, **at(0x09))
    waiting = snapshot(0x31, "Kp", over=[absent])
    assert statuses(waiting) == ["waiting"]
    assert statuses(waiting, snapshot(0x32, "Kp", sequence=2, over=[waiting])) == ["waiting", "waiting"]
    moved = author.attest(
        author.snapshot(U, sequence=1, state_hash=bytes(32), supersedes=[], **at(0x33)), U.id,
        states()["Kp"].commitment, K2,
    )  # fmt: skip
    pairs = {**moved.value["content"]["Snapshot"], "superseded_facts": [[b32(9), FACTS["G"].fact_id]]}
    other_order = author.facts.encode({**moved.value, "content": {"Snapshot": pairs}})
    assert statuses(other_order) == ["waiting"]


def test_a_chain_of_snapshots_ends_in_the_one_in_force():
    first = snapshot(0x31, "A1")
    second = snapshot(0x32, "Rp", sequence=2, over=[first], names=("P", "Rp"))
    third = snapshot(0x33, "Kp", sequence=3, over=[second], names=("Kp",))
    assert statuses(first, second, third) == ["older", "older", "in_force"]
    assert statuses(first, second) == ["older", "in_force"]
    same = snapshot(0x34, "Kp", sequence=3, over=[first], names=("P", "Rp", "Kp"))
    rank = [third.fact_id > same.fact_id, same.fact_id > third.fact_id]
    left_out = {True: "in_force", False: "unjudged"}
    assert statuses(third, same, first, second)[:2] == [left_out[rank[0]], left_out[rank[1]]]


def test_a_snapshot_on_an_unsound_one_or_without_a_greater_sequence_is_unsound():
    false = snapshot(0x31, "A1", state_hash=bytes(32))
    assert statuses(false, snapshot(0x32, "Kp", sequence=2, over=[false])) == ["unsound", "unsound"]
    first = snapshot(0x31, "A1", sequence=2)
    assert statuses(first, snapshot(0x32, "Kp", sequence=2, over=[first])) == ["in_force", "unsound"]


def test_a_late_sibling_below_the_base_does_not_unseat_later_snapshots():
    names = ("G", "A0", "A1", "P")
    base = snapshot(0x31, "P", names=names)
    later = snapshot(0x32, "Kp", sequence=2, over=[base], names=("Rp", "Kp"))
    sibling = max(
        (signed("A1", RemoveLeaf(0, number), 0x50 + number) for number in range(40)),
        key=lambda fact: fact.op_id,
    )
    assert sibling.op_id > FACTS["P"].op_id
    whole = [*FACTS.values(), sibling]
    with_sibling = reduce_authority(U, whole, after(states()["A1"], FACTS["P"]))
    supersedes = [base, FACTS["Rp"], FACTS["Kp"], sibling]
    covering = author.snapshot(
        U, sequence=3, state_hash=with_sibling.state_hash, supersedes=supersedes, **at(0x33)
    )  # fmt: skip
    covering = attested(covering, "u")
    found = judge_snapshots(U, [*whole, base, covering])
    assert found.statuses == {base.fact_id: "older", covering.fact_id: "in_force"}
    assert judge_snapshots(U, [*whole, base, later]).in_force == later
    assert reduce_authority(U, whole).state.commitment != states()["Kp"].commitment


def test_an_old_state_with_the_greatest_sequence_hides_nothing():
    good = snapshot(0x31, "Kp")
    old = snapshot(0x32, "A1", sequence=MOST)
    assert statuses(good, old) == ["in_force", "unjudged"]
    many = [
        snapshot(0x40 + number, "A1", sequence=MOST - number, state_hash=b32(number)) for number in range(70)
    ]
    assert statuses(good, *many) == ["in_force", *["unjudged"] * 70]


def test_an_old_state_inside_a_false_snapshot_of_another_branch_hides_nothing():
    good = snapshot(0x31, "Kp")
    old = snapshot(0x32, "A1", sequence=MOST - 1)
    false = snapshot(0x33, "X", sequence=MOST, over=[old], state_hash=bytes(32))
    assert statuses(good, old, false) == ["in_force", "older", "unsound"]


def test_sound_snapshots_on_two_branches_are_a_fork():
    left, right = snapshot(0x31, "Rp"), snapshot(0x32, "X", sequence=MOST)
    found = judge_snapshots(U, [*FACTS.values(), left, right])
    assert found.statuses == {left.fact_id: "older", right.fact_id: "in_force"}
    assert set(found.branches) == {states()["Rp"].commitment, states()["X"].commitment}
    assert judge_snapshots(U, [*FACTS.values(), left]).branches == {states()["Rp"].commitment: left}


def test_only_64_false_snapshots_are_judged(monkeypatch):
    calls = []

    def counted(*given):
        calls.append(1)
        return reduce_authority(*given)

    for each in (snapshots, snapshot_comparison):
        monkeypatch.setattr(each, "reduce_authority", counted)
    many = [
        snapshot(0x40 + number, "Kp", sequence=100 + number, state_hash=b32(number)) for number in range(100)
    ]
    found = judge_snapshots(U, [*FACTS.values(), *many, snapshot(0x31, "Kp")]).statuses
    assert sorted(found.values()) == ["unjudged"] * 37 + ["unsound"] * 64
    assert len(calls) == 1 + 64


def of_context(number, sequence, state_hash, supersedes, by="u"):
    fact = author.snapshot(
        NAMESPACE, sequence=sequence, state_hash=state_hash, supersedes=supersedes, **at(number)
    )
    for each in by:
        fact = attested(fact, each)
    return fact


def test_snapshots_of_a_context():
    every = [fact for name, fact in named_facts().items() if name != "b3'"]
    right = bytes.fromhex(context_vectors()["states"][3]["state_hash"])
    good = of_context(0x70, 5, right, every[1:])
    assert reduced(every).state_hash == right

    def judged(*given, **more):
        found = judge_snapshots(NAMESPACE, [*every, *given], chains(**more))
        return [found.statuses[each.fact_id] for each in given]

    false = of_context(0x71, MOST, bytes(32), every)
    unmet = of_context(0x72, MOST, right, every, by=["u*"])
    below = of_context(0x73, 4, right, every)
    assert judged(good) == ["in_force"]
    assert judged(good, false, unmet, below) == ["in_force", "unsound", "unsound", "unjudged"]
    assert judged(good, is_lost=True) == ["unsound"]
    poisoned = of_context(0x74, MOST, right, [*every, false])
    built = of_context(0x75, MOST - 1, right, [good])
    assert judged(good, poisoned, false, built) == ["older", "unsound", "unsound", "in_force"]
    junk = [of_context(0x80 + number, 10 + number, bytes(32), []) for number in range(70)]
    assert judged(good, *junk).count("unsound") == 64


def test_after_facts_were_pruned_verdicts_stay_and_new_snapshots_are_unchecked():
    every = [fact for name, fact in named_facts().items() if name != "b3'"]
    right = bytes.fromhex(context_vectors()["states"][3]["state_hash"])
    pruned = next(fact for fact in every if fact.variant == "FlowCharge")
    good, false, late = (
        of_context(0x70, 5, right, every[1:]),
        of_context(0x71, MOST, bytes(32), every),
        of_context(0x72, 6, right, every[1:]),
    )
    waiting = of_context(0x73, 7, right, [good, pruned, of_context(0x74, 1, right, [])])
    rest = [fact for fact in every if fact is not pruned]

    def judged(*given, told=None):
        gone = PrunedHere(frozenset([pruned.fact_id]), told or {})
        found = judge_snapshots(NAMESPACE, [*rest, *given], chains(), pruned=gone)
        return [found.statuses[each.fact_id] for each in given], [
            found.covered.get(each.fact_id) for each in given
        ]

    told = judge_snapshots(NAMESPACE, [*every, good, false], chains()).statuses
    assert judged(good, false, told=told) == (["in_force", "unsound"], [len(every) - 1, len(every)])
    assert judged(good, false) == (["unchecked", "unchecked"], [len(every) - 1, len(every)])
    assert judged(good, false, late, told=told)[0] == ["in_force", "unsound", "unchecked"]
    # What is unjudged before is checked no more afterwards, and a pair that names nothing waits as before.
    assert judged(good, waiting, told={good.fact_id: "unjudged"})[0] == ["unchecked", "waiting"]


@pytest.mark.large
@pytest.mark.parametrize("first", ["false", "sound"])
def test_a_chain_of_snapshots_takes_linear_time_whatever_its_first_one_is_worth(first):
    genesis = named_facts()["g"]
    right = reduced([genesis]).state_hash

    def judged(length):
        chain = [of_context(0x70, 1, bytes(32) if first == "false" else right, [genesis])]
        for sequence in range(2, length + 1):
            chain.append(of_context(0x70, sequence, right, [chain[-1]]))
        found, calls = calls_of(judge_snapshots, NAMESPACE, [genesis, *chain], chains())
        assert list(found.covered.values()) == [1] * length
        last = {"false": "unsound", "sound": "in_force"}[first]
        assert [found.statuses[each.fact_id] for each in chain[1:]] == [
            *["unsound" if first == "false" else "older"] * (length - 2), last
        ]  # fmt: skip
        return calls

    assert judged(200) < 5 * judged(50)


def test_copies_of_one_snapshot_that_nobody_met_are_looked_at_once():
    genesis = named_facts()["g"]

    def judged(count):
        unmet = of_context(0x70, 1, bytes(32), [genesis], by=["u*"])
        [by] = unmet.value["attest"]
        # Attestations are judged by admission: any other signature makes another copy.
        copies = [
            author.facts.encode({**unmet.value, "attest": [{**by, "sig": number.to_bytes(64)}]})
            for number in range(count)
        ]
        last = of_context(0x71, 2, bytes(32), [genesis, *copies])
        found, calls = calls_of(judge_snapshots, NAMESPACE, [genesis, *copies, last], chains())
        assert {*found.statuses.values()} == {"unsound"}
        return calls

    assert judged(200) < 5 * judged(50)


@pytest.mark.large
@pytest.mark.parametrize("collected", [False, True])
def test_a_chain_of_snapshots_of_an_authority_takes_the_time_of_its_operations(collected):
    def judged(length):
        every, state, over = [genesis()], after(EMPTY, genesis()), []
        chain, new = [], [genesis()]
        for number in range(length):
            right = state_hash(state_cbor(U, state))
            made = author.snapshot(
                U, sequence=number, state_hash=right, supersedes=[*new, *over], **at(number)
            )
            over = [author.attest(made, U.id, state.commitment, K1)]
            chain += over
            new = []
            for _ in range(4):
                new.append(author.append(U, state, RotateEpoch((), None), signer=K1, signer_count=2, **at(1)))
                state = after(state, new[-1])
            every += new
        found, calls = calls_of(judge_snapshots, U, [*every, *chain])
        assert [found.statuses[each.fact_id] for each in chain] == ["older"] * (length - 1) + ["in_force"]
        assert list(found.covered.values()) == [1 + 4 * number for number in range(length)]
        return again(every, chain, found) if collected else calls

    def again(every, chain, found):
        """The calls after a collection: of each snapshot the verdict is known, and many operations stay."""
        held = [row.op for row in reduce_authority(U, every).chain.rows.values()]
        plan = plan_authority(U, held, [], found.base, None, len(every) // 4)
        gone = frozenset(each.record_id for each in plan.prune)
        assert 0 < len(gone) < len(every) * 0.9
        here = PrunedHere(gone, found.statuses, pruned_after(held, plan, None))
        kept = [fact for fact in every if fact.fact_id not in gone]
        then, calls = calls_of(judge_snapshots, U, [*kept, *chain], pruned=here)
        assert (then.statuses, then.base) == (found.statuses, found.base)
        return calls

    assert judged(60) < 5 * judged(15)


def test_a_base_over_operations_that_nothing_leads_to_counts_them_where_later_ones_lead_there():
    """The last operation is covered by the first snapshot, and what leads to it by the second one."""
    first = snapshot(0x31, "P", names=("G", "A0", "A1", "P", "Kp"))
    second = snapshot(0x32, "Kp", sequence=2, over=[first], names=("Rp",))
    early = snapshot(0x33, "Rp", sequence=2, over=[first], names=("Rp",))
    assert statuses(first, second) == ["older", "in_force"]
    assert statuses(first, early) == ["in_force", "unsound"]


def test_copies_of_an_operation_lead_on_once():
    copies = [signed("G", CHAIN["A0"][3], 0x60 + number, count=3) for number in range(3)]
    first = snapshot(0x31, "G")
    second = snapshot(0x32, "A0", sequence=2, over=[first, *copies], names=())
    every = [*FACTS.values(), *copies, first, second]
    assert judge_snapshots(U, every).in_force == second


def test_snapshots_are_placed_after_relied_states_without_a_walk_for_each():
    many = [snapshot(0x40 + number, "Kp", sequence=100 + number) for number in range(90)]
    every = [*FACTS.values(), *many]
    relied = [states()[name].commitment for name in ("A1", "Rp", "Kp")]
    found, calls = calls_of(judge_snapshots, U, every, relied=relied)
    plain, least = calls_of(judge_snapshots, U, every)
    assert found.statuses == plain.statuses
    assert calls - least < 10 * len(many)


def test_what_snapshots_cover_is_the_union_of_what_they_name():
    draw = random.Random("covers")
    for _ in range(200):
        held = {bytes([1, number]): Named(bytes([1, number]), "Relational") for number in range(30)}
        pruned = frozenset(draw.sample([*held, bytes([9]), bytes([8])], draw.choice([0, 3])))
        covers, naive = Covers(held, pruned), {}
        for number in range(20):
            names = draw.sample([*held, bytes([9]), bytes([7])], draw.randrange(9))
            made = Named(
                bytes([2, number]), "Snapshot", {"superseded_facts": [(b"", each) for each in names]}
            )
            naive[made.fact_id] = {
                each for each in names if each not in naive and (each in held or each in pruned)
            }
            naive[made.fact_id] |= {each for name in names if name in naive for each in naive[name]}
            covers.add(made)
            held[made.fact_id] = made
        for id_, covered in naive.items():
            assert covers.count(id_) == len(covered)
            assert covers.has_pruned(id_) == bool(covered & pruned)
            assert {each.fact_id for each in covers.facts(id_)} == covered - pruned


class Named(SimpleNamespace):
    """A fact that has an id, a kind and a content alone."""

    def __init__(self, fact_id, kind, content=None):
        super().__init__(fact_id=fact_id, kind=kind, content=content)


def test_states_after_others_are_those_whose_walk_back_meets_them_all():
    draw = random.Random("states")
    for _ in range(300):
        names = [bytes([number]) * 32 for number in range(12)]
        ops = []
        for place, name in enumerate(names[1:], start=1):
            parent = draw.choice(names[: draw.choice([place, place, 12])])
            ops.append(SimpleNamespace(new_commitment=name, parent_commitment=parent, height=place))
        paths = StatePaths(ops)
        wanted = {*draw.sample(names, draw.choice([1, 1, 2, 3]))}
        expected = {name for name in names if wanted <= {*paths.before(name)}}
        assert paths.after(wanted) == expected

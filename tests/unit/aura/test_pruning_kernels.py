"""What pruning needs of facts, over batches: the values of the plain functions, and damage told, never raised."""

from uuid import UUID

import pyarrow as pa
import pytest

from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.reduce.contexts import authority_chain, skeletons
from strandline.dialects.aura.reduce.contexts.flows import MOST, Flow, FlowKey
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots
from support.aura_cases import U, facts, states
from support.context_cases import context_vectors, pruning_context
from support.pruned_contexts import Member
from unit.aura.test_context_snapshots import snapshot

VECTORS = context_vectors()["pruning"]
FLOW = Flow(FlowKey(b"\x01" * 16, b"\x02" * 16, MOST), MOST, 7, (MOST, b"\x03" * 32))
HOME = {"namespace": "context:x", "bucket": 3}


def batch(*rows):
    return pa.RecordBatch.from_pylist(list(rows))


def given(kernel, *rows):
    return [row for each in kernel(batch(row) for row in rows) for row in each.to_pylist()]


def history(facts, relied=None, *, known=None, named_by=None):
    """The histories of authorities, of which `reduce` judged the snapshots among all facts, or among `known`.

    The rows of all facts name the states that were relied on, or those of the variants `named_by`.
    """
    by_namespace = {}
    for fact in facts if known is None else known:
        by_namespace.setdefault(fact.namespace, []).append(fact)
    known_bases = {
        namespace: getattr(judge_snapshots(namespace, theirs, relied=relied or ()).in_force, "fact_id", None)
        for namespace, theirs in by_namespace.items()
    }
    rows = [
        dict.fromkeys(kernels.HISTORY_COLUMNS)
        | {
            "namespace": fact.namespace.text,
            "bucket": 1,
            "fact_cbor": fact.cbor,
            "relied": relied if named_by is None or fact.variant in named_by else None,
            "known_base": known_bases[fact.namespace],
        }
        for fact in sorted(facts, key=lambda fact: fact.namespace.text)
    ]
    return given(kernels.histories, *rows)


def test_histories_have_the_states_of_the_chain_and_the_final_ones():
    with_base, without = Member(1), Member(2, has_base=False)
    found = {
        row["namespace"]: row
        for row in history([*with_base.operations, *with_base.snapshots, *without.operations])
    }
    for each in (with_base, without):
        row = found[each.namespace.text]
        state = reduce_authority(each.namespace, each.operations)
        assert frozenset(row["chain"]) == authority_chain(state).states
        assert row["state_hash"] == state.state_hash
    first, second = (found[each.namespace.text] for each in (with_base, without))
    assert (frozenset(first["final"]), first["base"]) == (with_base.final.states, with_base.final.tip)
    assert (second["final"], second["base"]) == ([], None)


def test_a_base_settles_the_fork_before_it():
    member = Member(3)
    losing = next(
        row.op for row in reduce_authority(member.namespace, member.operations).chain.rows.values()
        if row.outcome == "superseded"
    )  # fmt: skip
    ops = path_to(member, losing)
    [row] = history([*member.operations, member.snapshot(9, ops)])
    assert row["base"] == losing.new_commitment
    assert row["final"] == [op.new_commitment for op in ops]
    assert row["chain"][: len(ops)] == row["final"]
    # Before `reduce` knows the snapshot its tables follow the other branch, and so does a plan.
    [row] = history([*member.operations, member.snapshot(9, ops)], known=member.operations)
    assert (row["base"], row["final"], losing.new_commitment in row["chain"]) == (None, [], False)


def test_a_base_that_reduce_does_not_know_is_no_base_off_the_history_by_the_one_that_it_knows():
    ops, made = [*facts().values()], {name: state.commitment for name, state in states().items()}
    older, newer = snapshot(0x31, "A1"), snapshot(0x33, "Rx", sequence=2)
    for known in ([], [older]):
        [found] = history([*ops, older, newer], known=[*ops, *known])
        assert (found["base"], found["base_id"], found["final"]) == (None, None, [])
        assert found["chain"][-1] == made["Kp"]
    [found] = history([*ops, older, newer])
    assert (found["base"], found["base_id"], len(found["final"])) == (made["Rx"], newer.fact_id, 5)
    assert found["chain"][-1] == made["Kx"]
    # One on the history by the older base counts before `reduce` knows it.
    onward = snapshot(0x34, "Kp", sequence=2)
    [found] = history([*ops, older, onward], known=[*ops, older])
    assert (found["base"], found["base_id"], len(found["final"])) == (made["Kp"], None, 6)


def test_a_snapshot_of_another_branch_does_not_unseat_a_state_that_pruning_relied_on():
    member = Member(3)
    losing = next(
        row.op for row in reduce_authority(member.namespace, member.operations).chain.rows.values()
        if row.outcome == "superseded"
    )  # fmt: skip
    winning = reduce_authority(member.namespace, member.operations).chain.path
    rivals = [member.snapshot(1, winning), member.snapshot(9, path_to(member, losing))]
    for relied in (winning[-1], losing):
        [row] = history([*member.operations, *rivals], [relied.new_commitment])
        assert row["base"] == relied.new_commitment
        # Wherever the first operation stands, which alone has them.
        for every in ([*rivals, *member.operations], [*member.operations, *rivals]):
            assert history(every, [relied.new_commitment], named_by=("Genesis",)) == [row]
    [row] = history([*member.operations, *rivals])
    assert row["base"] in (winning[-1].new_commitment, losing.new_commitment)


def path_to(member, op):
    made = {
        row.op.new_commitment: row.op
        for row in reduce_authority(member.namespace, member.operations).chain.rows.values()
    }
    path = [op]
    while (parent := path[0].attested.op.parent_commitment) in made:
        path.insert(0, made[parent])
    return path


def test_a_false_snapshot_makes_nothing_final():
    member = Member(4, has_base=False)
    ops = reduce_authority(member.namespace, member.operations).chain.path
    [row] = history([*member.operations, member.snapshot(1, ops[:2], state_hash=bytes(32))])
    assert (row["final"], row["base"]) == ([], None)


def test_skeletons_of_charges_are_those_of_the_vectors_and_add_up():
    f0 = pruning_context()["f0"]
    told = {**HOME, "alt_id": f0.body_id}
    [found] = given(kernels.skeleton_sums, {**told, "skeleton": bytes.fromhex(VECTORS["skeleton_f0"])})
    assert found == {
        **HOME, "src": str(U.text.removeprefix("authority:")), "dst": str(UUID(bytes=f0.content["dst"])), "epoch": 1,
        "spent": 1, "charges": 1, "nonce": 0, "body_id": f0.body_id, "is_damaged": False,
    }  # fmt: skip
    assert given(kernels.skeleton_sums, {**told, "skeleton": None}) == []


def test_carries_are_read_back():
    raw = skeletons.encode_carry([FLOW])
    [row] = given(kernels.carried_sums, {**HOME, "carry": raw})
    assert not row.pop("is_damaged")
    [again] = given(kernels.encoded_carries, {"namespace": "context:x", "flows": [row]})
    assert again["carry"] == raw
    [empty] = given(kernels.encoded_carries, {"namespace": "context:x", "flows": None})
    assert empty["carry"] == skeletons.encode_carry([])
    assert given(kernels.carried_sums, {**HOME, "carry": empty["carry"]}) == []


@pytest.mark.parametrize(
    ("kernel", "name"), [(kernels.carried_sums, "carry"), (kernels.skeleton_sums, "skeleton")]
)
@pytest.mark.parametrize("raw", [b"", b"\xff", b"\xa1\x61v\x01"])
def test_damage_is_told_for_its_namespace(kernel, name, raw):
    [row] = given(kernel, {**HOME, "alt_id": bytes(32), name: raw})
    assert (row["namespace"], row["bucket"], row["is_damaged"], row["spent"]) == ("context:x", 3, True, None)

"""Kernels over authorities with pruned operations: what the plain functions give, and damage told, never raised."""

from functools import lru_cache

import pyarrow as pa
import pytest

from strandline.dialects.aura import kernels
from strandline.dialects.aura.kernels.reduced_rows import state_columns
from strandline.dialects.aura.reduce import (
    decode_op_skeleton,
    encode_op_skeleton,
    encode_state_carry,
    reduce_authority,
    state_cbor,
)
from strandline.dialects.aura.verify import OpSkeleton
from support.aura_reference import fact_row
from support.laws import IS_QUICK
from support.pruned_authorities import Source

SEEDS = [seed for seed in range(36 if IS_QUICK else 90) if seed % 6]


@lru_cache(None)
def source_of(seed, rounds=2):
    """An authority after some rounds, collected after each but the last; nothing changes it any more."""
    source = Source(seed)
    source.relied = []
    for number in range(rounds):
        if number:
            source.lake.collect(0, source.others.values())
            source.relied += [source.lake.state.commitment] if source.lake.state else []
        source.deliver(number)
    return source


def remains(source, **changed):
    """The rows that stand for what went."""
    here = {"namespace": source.namespace.text, "bucket": 3}
    bones = changed.get("skeletons", source.lake.skeletons)
    state = source.lake.state
    carry = changed.get("carry", state and encode_state_carry(state_cbor(source.namespace, state)))
    rows = [here | {"pruned_id": id_, "skeleton": raw} for id_, raw in bones.items()]
    return [*rows, *([here | {"carry": carry}] if bones else [])]


def facts_of(source):
    ops = [fact_row(op.fact, op) for op in source.lake.held.values()]
    return [*ops, *(fact_row(fact) for fact in source.others.values())]


def given(kernel, columns, rows, **settings):
    """What a kernel gives for these rows, two a batch."""
    whole = [{name: row.get(name) for name in columns} for row in rows]
    batches = pa.Table.from_pylist(whole).to_batches(max_chunksize=2)
    return [row for found in kernel(batches, **settings) for row in found.to_pylist()]


def reduction_rows(source, **changed):
    rows = [row | {"is_base": row["kind"] == "Snapshot"} for row in facts_of(source)]
    newest = source.snapshots[-1].fact_id
    return [
        *(row for row in rows if row["kind"] != "Snapshot" or row["record_id"] == newest),
        *remains(source, **changed),
    ]


def without_receipts(rows):
    return [row for row in rows if row.get("kind") != "RendezvousReceipt"]


def history_rows(source, statuses=(), **changed):
    """As after a reduction that judged all but the newest snapshot, or these."""
    known = dict(statuses) or {each.fact_id: "older" for each in source.snapshots[:-1]}
    more = {"relied": source.relied or None, "known_base": source.snapshots[-1].fact_id}
    rows = [row | more | {"known_status": known.get(row["record_id"])} for row in facts_of(source)]
    return [*rows, *remains(source, **changed)]


@pytest.mark.large
@pytest.mark.parametrize("full", [False, True])
def test_a_reduction_of_what_stays_is_that_of_all(full):
    gone = 0
    for seed in SEEDS:
        source = source_of(seed)
        [row] = given(
            kernels.reduced, kernels.REDUCTION_COLUMNS, without_receipts(reduction_rows(source)), full=full
        )
        assert (row["is_damaged"], row["is_inconsistent"]) == (False, False), seed
        expected = source.reduced()
        assert {name: row[name] for name in state_columns(expected)} == state_columns(expected)
        assert {each["op_id"] for each in row["operations"]} == {*expected.chain.rows}
        gone += len(source.lake.skeletons)
    assert gone > len(SEEDS) / 2


@pytest.mark.large
def test_the_plan_of_a_kernel_is_the_plain_one():
    for seed in SEEDS:
        source = source_of(seed)
        [row] = given(
            kernels.planned, kernels.REDUCTION_COLUMNS, reduction_rows(source), skip_window=seed % 2
        )
        plan = source.plan(seed % 2)
        ops = [each for each in plan.members if each.record_id in source.lake.held]
        found = {
            each["record_id"]: (each["hold"], each["skeleton"], each["generation"]) for each in row["planned"]
        }
        assert {each.record_id: (each.hold, each.skeleton, each.generation) for each in ops} == {
            id_: told for id_, told in found.items() if id_ in source.lake.held
        }
        if plan.prune or source.lake.skeletons:
            assert row["carry"] == plan.carry


@pytest.mark.large
@pytest.mark.parametrize("rounds", [2, 3])
def test_a_history_is_that_of_all_facts_and_snapshots_are_judged_after_collections(rounds):
    known = 0
    for seed in SEEDS:
        source = source_of(seed, rounds)
        [row] = given(kernels.histories, kernels.HISTORY_COLUMNS, history_rows(source))
        whole = source.lake.whole()
        assert row["base"] == source.lake.base.commitment, seed
        assert row["base_id"] == source.snapshots[-1].fact_id
        assert row["chain"] == [op.new_commitment for op in whole.chain.path]
        assert row["state_hash"] == whole.state_hash
        assert row["final"][-1] == row["base"]
        rows = given(kernels.judged_snapshots, kernels.SNAPSHOT_INPUT_COLUMNS, history_rows(source))
        assert {each["snapshot_id"]: each["status"] for each in rows[0]["statuses"]} == {
            each.fact_id: "in_force" if each is source.snapshots[-1] else "older" for each in source.snapshots
        }
        known += len(source.lake.skeletons) > 0
    assert known > 5


def pruned_source():
    return next(source for source in map(source_of, SEEDS) if len(source.lake.skeletons) > 2)


def test_a_snapshot_on_nothing_that_is_known_is_unchecked_after_a_collection():
    source = pruned_source()
    statuses = {each.fact_id: "unjudged" for each in source.snapshots}
    [row] = given(kernels.histories, kernels.HISTORY_COLUMNS, history_rows(source, statuses))
    assert (row["base"], row["base_id"], row["final"]) == (None, None, [])
    # What was pruned by stays a fence.
    assert (
        row["state_hash"]
        == reduce_authority(source.namespace, source.lake.ever.values(), source.lake.state).state_hash
    )
    [row] = given(kernels.judged_snapshots, kernels.SNAPSHOT_INPUT_COLUMNS, history_rows(source, statuses))
    assert {each["status"] for each in row["statuses"]} == {"unchecked"}


@pytest.mark.large
def test_states_of_skeletons_on_the_chain_are_told():
    for seed in SEEDS:
        source = source_of(seed)
        held = [row.op for row in source.reduced().chain.rows.values() if row.outcome == "applied"]
        rows = [
            {"namespace": source.namespace.text, "parent_commitment": op.parent_commitment} for op in held
        ]
        found = given(kernels.pruned_paths, kernels.PATH_COLUMNS, [*rows, *remains(source)])
        chain = {op.new_commitment for op in source.lake.whole().chain.path}
        assert {row["commitment"] for row in found} | {op.new_commitment for op in held} == chain
        assert len(found) == len(chain) - len({op.new_commitment for op in held})


def swapped(bone, **changed):
    values = {name: getattr(bone, name) for name in OpSkeleton.__slots__} | changed
    return encode_op_skeleton(OpSkeleton(**values))


def changed_skeleton(source, **changed):
    """One skeleton, with another value in a member."""
    id_, raw = min(source.lake.skeletons.items())
    return {**source.lake.skeletons, id_: swapped(decode_op_skeleton(raw), **changed)}


def circle(source):
    """Two skeletons that follow each other."""
    raw = min(source.lake.skeletons.values())
    pairs = [(b"\x08" * 32, b"\x09" * 32), (b"\x09" * 32, b"\x08" * 32)]
    bone = decode_op_skeleton(raw)
    made = {
        one: swapped(bone, op_id=one, parent_commitment=one, new_commitment=other) for one, other in pairs
    }
    return {**source.lake.skeletons, **made}


def after_the_tip(source):
    """A skeleton that follows the newest state."""
    tip = source.reduced().state
    bone = decode_op_skeleton(min(source.lake.skeletons.values()))
    place = {"parent_commitment": tip.commitment, "parent_epoch": tip.epoch, "height": tip.height + 1}
    forged = swapped(bone, op_id=b"\xff" * 32, new_commitment=b"\x08" * 32, **place)
    return {**source.lake.skeletons, bytes(32): forged}


DAMAGE = {
    "no CBOR": lambda source: {**source.lake.skeletons, bytes(32): b"\xff"},
    "none": lambda source: {**source.lake.skeletons, bytes(32): None},
    "height": lambda source: changed_skeleton(source, height=2**64 - 1),
    "epoch": lambda source: changed_skeleton(source, parent_epoch=2**64 - 1),
    "circle": lambda source: circle(source),
    "after the tip": lambda source: after_the_tip(source),
    "parent": lambda source: changed_skeleton(source, parent_commitment=b"\x07" * 32),
}


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize("full", [False, True])
def test_damaged_skeletons_are_told(name, full):
    source = pruned_source()
    rows = reduction_rows(source, skeletons=DAMAGE[name](source))
    [row] = given(kernels.reduced, kernels.REDUCTION_COLUMNS, without_receipts(rows), full=full)
    assert (row["is_damaged"], row["is_inconsistent"]) == (False, True)
    assert row["state_hash"] == source.reduced().state_hash
    [row] = given(kernels.planned, kernels.REDUCTION_COLUMNS, rows, skip_window=0)
    assert row["is_inconsistent"]
    [row] = given(
        kernels.histories, kernels.HISTORY_COLUMNS, history_rows(source, skeletons=DAMAGE[name](source))
    )
    assert row["namespace"] == source.namespace.text


@pytest.mark.parametrize("carry", [b"", b"\xff", b"\xa1\x61v\x01", b"\xa0"])
def test_without_a_carry_there_is_no_state(carry):
    source = pruned_source()
    rows = reduction_rows(source, carry=carry)
    for kernel, settings in ((kernels.reduced, {"full": True}), (kernels.planned, {"skip_window": 0})):
        [row] = given(kernel, kernels.REDUCTION_COLUMNS, without_receipts(rows), **settings)
        assert (row["is_inconsistent"], row["state_hash"], row["operations"]) == (True, None, None)
    [row] = given(kernels.histories, kernels.HISTORY_COLUMNS, history_rows(source, carry=carry))
    assert row["base_id"] is None


def test_without_one_skeleton_that_can_be_read_and_without_a_carry_there_is_no_state():
    source = pruned_source()
    rows = reduction_rows(source, skeletons=dict.fromkeys(source.lake.skeletons, b"\xff"), carry=b"\xff")
    for kernel, settings in ((kernels.reduced, {"full": True}), (kernels.planned, {"skip_window": 0})):
        [row] = given(kernel, kernels.REDUCTION_COLUMNS, without_receipts(rows), **settings)
        assert (row["is_inconsistent"], row["state_hash"]) == (True, None)


def test_skeletons_have_the_states_that_attestations_name():
    source = pruned_source()
    rows = [{"namespace": "a", "skeleton": raw} for raw in (*source.lake.skeletons.values(), b"", None)]
    found = given(kernels.skeleton_states, ("namespace", "skeleton"), rows)
    bones = map(decode_op_skeleton, source.lake.skeletons.values())
    assert [(row["commitment"], row["epoch"], row["group_key"]) for row in found] == [
        (bone.new_commitment, bone.new_epoch, bone.new_group_key) for bone in bones
    ]

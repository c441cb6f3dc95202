"""Plans of logs: what may go, what keeps the rest, and the proof; after any rounds no answer has changed."""

import random
from dataclasses import replace

import pytest

from strandline.dialects.ipfslog.reduce import (
    LogConfiguration,
    carry_of,
    decode_skeleton,
    encode_carry,
    plan_log,
    prove_log,
    reduce_log,
)
from strandline.dialects.ipfslog.reduce import pruning as rules
from support.ipfslog_cases import dag, lies
from support.laws import IS_QUICK
from support.random_logs import random_log

KEYVALUE = LogConfiguration("keyvalue", ("*",), "config")
DAG = dag("v2")


def named(members):
    names = {entry.record_id: name for name, entry in DAG.items()}
    return {names[each.record_id]: each.hold for each in members}


def test_the_published_dag_lets_go_what_decides_no_row_and_is_no_end():
    plan = plan_log(DAG.values(), KEYVALUE, skip_window=0)
    assert named(plan.members) == {
        "a1": "TAIL", "b1": "TAIL", "c1": "TAIL", "a2": None, "a3": None, "b2": "DOCUMENT_ROW", "c2": "HEAD",
        "a4": "HEAD", "b3": "HEAD",
    }  # fmt: skip
    assert plan.carry == encode_carry(carry_of(KEYVALUE, 2))
    assert [each.generation for each in plan.prune] == [
        1 + list(reduce_log(DAG.values(), KEYVALUE).values).index(each.record_id) for each in plan.prune
    ]
    proof = prove_log(DAG.values(), KEYVALUE, plan)
    assert proof.equal
    assert proof.before == reduce_log(DAG.values(), KEYVALUE).state_hash


@pytest.mark.parametrize(("window", "gone"), [(0, {"a2", "a3"}), (1, {"a2", "a3"}), (2, set())])
def test_entries_in_the_window_stay(window, gone):
    plan = plan_log(DAG.values(), KEYVALUE, skip_window=window)
    boundary = max(0, 9 - 2 * window - window // 2)
    assert {name for name, hold in named(plan.members).items() if hold is None} == {
        name for name in gone if named_position(name) < boundary
    }
    assert plan.holds.get("WINDOW", 0) == 2 - len(plan.prune)


def named_position(name):
    return 1 + list(reduce_log(DAG.values(), KEYVALUE).values).index(DAG[name].record_id)


def test_logs_that_keep_all_say_why():
    lying = [*DAG.values(), *lies("v2").values()]
    assert plan_log(lying, KEYVALUE, skip_window=0).holds == {"WALK_MODE": len(lying)}
    for store in ("none", "eventlog", "feed"):
        told = LogConfiguration(store, ("*",), "config")
        assert plan_log(DAG.values(), told, skip_window=0).holds == {"STORE_KEEPS_ALL": 9}
    denied = plan_log(DAG.values(), replace(KEYVALUE, write=("nobody",)), skip_window=0)
    assert (denied.holds, {each.generation for each in denied.members}) == ({"KIND_KEPT": 9}, {None})


def test_without_the_rule_of_documents_the_proof_fails(monkeypatch):
    right = rules._reasons

    def wrong(state, skip_window):
        return {each: hold for each, hold in right(state, skip_window).items() if hold != "DOCUMENT_ROW"}

    monkeypatch.setattr(rules, "_reasons", wrong)
    plan = plan_log(DAG.values(), KEYVALUE, skip_window=0)
    assert named(plan.prune).keys() == {"a2", "a3", "b2"}
    proof = prove_log(DAG.values(), KEYVALUE, plan)
    assert (proof.equal, proof.differences) == (False, ("ipfs_log_document y",))
    assert proof.before != proof.after


def rounds(seed):
    """A log and its skeletons after each of some rounds of entries and collections."""
    draw = random.Random(seed)
    [made] = random_log(seed, 1).batches
    told = LogConfiguration(("keyvalue", "documents", "counter")[seed % 3], ("*",), "config")
    seen, held, skeletons = [], {}, {}
    cuts = [*sorted(draw.sample(range(len(made) + 1), min(3, len(made)))), len(made)]
    for start, end in zip([0, *cuts], cuts, strict=False):
        seen += made[start:end]
        offered = [*made[start:end], *draw.sample(seen, len(seen) // 3)]
        held |= {entry.record_id: entry for entry in offered if entry.record_id not in skeletons}
        plan = plan_log(held.values(), told, skeletons.values(), draw.choice((0, 0, 1)))
        assert prove_log(held.values(), told, plan, skeletons.values()).equal
        skeletons |= {each.record_id: decode_skeleton(each.skeleton) for each in plan.prune}
        assert plan.carry == encode_carry(carry_of(told, len(skeletons)))
        if draw.random() < 0.7:
            held = {record_id: entry for record_id, entry in held.items() if record_id not in skeletons}
        yield told, seen, held, skeletons


@pytest.mark.large
def test_no_rounds_of_entries_and_collections_change_an_answer():
    gone = 0
    for seed in range(12 if IS_QUICK else 200):
        for told, seen, held, skeletons in rounds(seed):
            found, whole = (
                reduce_log(held.values(), told, skeletons.values()),
                reduce_log(seen, told),
            )
            if whole.mode == "sort":
                assert found == whole
            assert {row.record_id for row in found.view} == {row.record_id for row in whole.view}
            assert {*held, *skeletons} == {entry.record_id for entry in seen}
            again = plan_log(held.values(), told, skeletons.values(), 0)
            assert {each.record_id for each in again.members}.isdisjoint(skeletons)
            gone += len(skeletons)
    assert gone > 30

"""Pruning changes no answer: skeletons stand for what went, in every log and whatever comes later."""

import random

import pytest

from strandline.dialects.ipfslog.reduce import (
    Carry,
    LogConfiguration,
    decode_carry,
    decode_skeleton,
    encode_carry,
    encode_skeleton,
    iterate,
    reduce_log,
)
from strandline.dialects.ipfslog.reduce.dag import Dag, node_of
from support.ipfslog_cases import dag, document, entry, lies
from support.pruning import prunable, skeleton
from support.random_logs import random_log

HASHES = document()["dag"]["hashes"]
KEYVALUE = LogConfiguration("keyvalue", ("*",), "config")


def random_told(seed):
    """A log of a seed, whole, as a store with rows."""
    log = random_log(seed, 1)
    [made] = log.batches
    store = ("keyvalue", "documents", "counter")[seed % 3]
    return made, LogConfiguration(store, ("*",), "config")


@pytest.mark.large
@pytest.mark.parametrize("seed", range(150))
def test_any_prunable_entries_may_go_and_whatever_comes_later_counts_as_if_nothing_had_gone(seed):
    made, told = random_told(seed)
    draw = random.Random(seed)
    early = made[: draw.randint(1, len(made))]
    before = reduce_log(early, told)
    gone = [each for each in prunable(early, told) if draw.random() < 0.7]
    bones = [skeleton(each) for each in gone]
    ids = {each.record_id for each in gone}
    kept = [each for each in early if each.record_id not in ids]
    assert reduce_log(kept, told, bones) == before
    # What went comes back: it does not count twice.
    assert reduce_log(early, told, bones) == before
    after = reduce_log([*kept, *made], told, bones)
    whole = reduce_log(made, told)
    if whole.mode == "sort" or not gone:
        assert after == whole
    else:
        assert after.mode == "sort"
        assert {row.record_id for row in after.view} == {row.record_id for row in whole.view}
        assert after.documents is not None
        assert [row.position for row in after.view] == list(range(1, after.count + 1))


@pytest.mark.large
def test_random_logs_have_entries_that_may_go():
    assert sum(bool(prunable(*random_told(seed))) for seed in range(150)) > 50


def test_the_published_dag_keeps_its_hash_without_the_entries_that_decide_nothing():
    made = dag("v2")
    gone = prunable(made.values(), KEYVALUE)
    assert {name for name, each in made.items() if each in gone} == {"a2", "a3"}
    kept = [each for each in made.values() if each not in gone]
    state = reduce_log(kept, KEYVALUE, map(skeleton, gone))
    assert state.state_hash.hex() == HASHES["v2 keyvalue"]
    assert (state.count, state.record_count) == (9, 9)
    whole = Dag(map(node_of, made.values()))
    pruned = Dag([*map(node_of, kept), *map(skeleton, gone)])
    assert iterate(pruned, lte=[made["c2"].cid]) == iterate(whole, lte=[made["c2"].cid])


def test_a_late_lie_takes_its_place_by_its_clock_where_entries_were_pruned():
    made, lie = dag("v2"), lies("v2")
    gone = prunable(made.values(), KEYVALUE)
    kept = [each for each in made.values() if each not in gone]
    assert reduce_log([*kept, *lie.values()], KEYVALUE, map(skeleton, gone)).mode == "sort"
    assert reduce_log([*made.values(), *lie.values()], KEYVALUE).mode == "walk"


def test_a_skeleton_is_read_back_and_nothing_else_is_one():
    for each in (*dag("v2").values(), *dag("core2").values(), entry("x", "v0", time=3)):
        raw = encode_skeleton(each)
        assert decode_skeleton(raw) == skeleton(each)
        for broken in (raw[:-1], raw + b"\x00", b"\x80", b"", raw[:1] + b"\xf6" + raw[2:]):
            with pytest.raises(ValueError):
                decode_skeleton(broken)


def test_a_carry_is_read_back_and_decides_what_the_log_is_reduced_as():
    carry = Carry("keyvalue", ("key:02", "x"), 3, (bytes(32),), None)
    assert decode_carry(encode_carry(carry)) == carry
    same = LogConfiguration("keyvalue", ("x", "key:02", "x"), "manifest", (bytes(32),))
    assert carry.configuration_of(same) is same
    other = carry.configuration_of(LogConfiguration("keyvalue", ("*",), "manifest", (bytes(32),)))
    assert other == LogConfiguration("keyvalue", ("key:02", "x"), "snapshot")
    assert other.reducer_version == same.reducer_version
    raw = encode_carry(carry)
    store = b"\x68keyvalue"
    assert store in raw
    for broken in (
        raw[:-1], b"", b"\xa0", raw.replace(b"sort", b"walk"), raw.replace(store, b"\x68unheard1"),
        raw.replace(store, b"\x80"), raw.replace(b"count\x03", b"count\x80"), raw.replace(b"count\x03", b"count\xf5"),
        raw.replace(b"\x61x", b"\x18\x64"), raw.replace(b"\x82\x66key:02\x61x", b"\x66key:02"),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            decode_carry(broken)


@pytest.mark.large
@pytest.mark.parametrize("writers", [299_990, 1_999_995], ids=["of a manifest", "of a file of the operator"])
def test_the_carry_of_the_longest_write_list_is_read_back(writers):
    carry = Carry("keyvalue", tuple(f"{number:07}" for number in range(writers)), 1)
    assert decode_carry(encode_carry(carry)) == carry

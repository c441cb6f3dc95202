"""Which bodies of a group may be erased: those of native messages in the final prefix, and no others."""

import pytest

from strandline.core.pruning import compute_checkpoint_pruning_boundary
from strandline.dialects.devicelog.codec.documents import read_line
from strandline.dialects.devicelog.reduce import CARRY, plan_group, reduce
from support.devicelog_cases import compact, feed
from support.laws import IS_QUICK
from support.random_devices import random_history


@pytest.mark.large
@pytest.mark.parametrize("policy", ["keep-both", "freeze"])
def test_bodies_go_below_the_boundary_of_the_final_prefix_and_no_entry_that_comes_later_moves_them(policy):
    total = 0
    for seed in range(15 if IS_QUICK else 60):
        entries = random_history(seed, forks=False).entries()
        state = reduce(entries, policy)
        for window in (0, 1):
            plan = plan_group(entries, policy, skip_window=window)
            boundary = compute_checkpoint_pruning_boundary(state.final_length, window)
            assert {each.record_id for each in plan.prune} == {*state.view[:boundary]}
            assert [each.generation for each in plan.members if each.hold is None] == [
                state.view.index(each.record_id) for each in plan.prune
            ]
            assert plan.carry == CARRY == b"\xa1\x61v\x01"
        total += state.final_length
    assert total > (15 if IS_QUICK else 60)


@pytest.mark.large
def test_what_holds_a_body_is_told():
    for seed in range(20):
        entries = {each.record_id: each for each in random_history(seed).entries()}
        state = reduce(entries.values())
        for each in plan_group(entries.values(), skip_window=0).members:
            entry, shown = entries[each.record_id], each.record_id in state.view
            is_kept = entry.kind != "msg" or not shown
            assert (each.hold == "KIND_KEPT") == is_kept
            assert is_kept or (each.hold == "WINDOW") == (
                each.record_id not in state.view[: state.final_length]
            )


def test_messages_of_a_scuttlebutt_feed_stay_whole():
    messages = [read_line(compact(value)) for value in feed()]
    plan = plan_group(messages, skip_window=0)
    assert [each.hold for each in plan.members] == ["SIGNED_TEXT"] * len(messages)


def test_only_older_labels_go_and_what_went_is_no_member_any_more():
    entries = random_history(21, forks=False).entries()
    plan = plan_group(entries, skip_window=0)
    gone = {each.record_id for each in plan.prune}
    limit = max(each.utc for each in entries if each.record_id in gone)
    older = plan_group(entries, skip_window=0, before=limit)
    utc = {each.record_id: each.utc for each in entries}
    assert 0 < len(older.prune) < len(plan.prune)
    assert {each.record_id for each in older.prune} == {
        each.record_id for each in plan.prune if utc[each.record_id] < limit
    }
    again = plan_group(entries, skip_window=0, erased=gone)
    assert again.prune == ()
    assert {each.record_id for each in again.members} | gone == {*utc}

"""Feeds of a weak lake with missing messages: what is there is shown in order, and the gaps are counted."""

import pytest

from strandline.dialects.devicelog.codec import read_line
from strandline.dialects.devicelog.kernels.reduced_rows import tip_rows, view_rows
from strandline.dialects.devicelog.reduce import forks, reduce
from support.device_feeds import HELD, feed, held
from support.devicelog_cases import TABLET, compact, ssb_value

TIPS = {
    "a": [("6", 0, 0)],
    "b": [("6", 0, 1)],
    "c": [("2", 3, 0), ("6", 2, 0)],
    "d": [("2", 3, 0), ("4 again", 4, 0), ("5", 3, 0)],
    "e": [("2", 2, 0), ("5 after 2", 3, 0), ("6", 3, 0)],
    "f": [("1", 2, 0), ("3", 2, 0), ("5", 2, 0)],
}
"""By feed its tips, each with the rows that its past does not have; of a feed with one tip, its gaps."""

GAPS = {"a": 0, "b": 1, "c": 1, "d": 2, "e": 2, "f": 2}


@pytest.mark.parametrize("name", HELD)
def test_messages_are_shown_by_sequence_whatever_is_missing(name):
    state, labels = reduce(held(name)), {entry.record_id: label for label, entry in feed(name).items()}
    shown = [labels[each] for each in state.view]
    assert [label[0] for label in shown] == sorted(label[0] for label in HELD[name])
    assert sorted(shown) == sorted(HELD[name])
    assert [row["position"] for row in view_rows(state)] == list(range(len(shown)))


@pytest.mark.parametrize("name", HELD)
def test_each_part_of_a_feed_has_a_tip_and_gaps_are_counted_once(name):
    state, labels = reduce(held(name)), {entry.record_id: label for label, entry in feed(name).items()}
    rows = list(tip_rows(state))
    assert sorted((labels[row["record_id"]], row["behind"]) for row in rows) == [
        each[:2] for each in TIPS[name]
    ]
    assert sum(row["gaps"] for row in rows) == GAPS[name]
    assert sum(row["gaps"] > 0 for row in rows) == (GAPS[name] > 0)
    assert {(row["status"], row["waited"], row["label"], row["seniority"]) for row in rows} == {
        ("active", True, None, None)
    }


@pytest.mark.parametrize("name", HELD)
def test_rows_of_a_feed_in_one_part_are_final_and_those_of_others_are_not(name):
    state = reduce(held(name))
    assert state.final_length == (len(HELD[name]) if name in "ab" else 0)


@pytest.mark.parametrize("name", HELD)
def test_two_messages_of_one_sequence_are_a_fork_and_a_gap_is_none(name):
    state, labels = reduce(held(name)), {entry.record_id: label for label, entry in feed(name).items()}
    found = [
        (fork.seq, {labels[state.graph.entries[each].record_id] for each in fork.members})
        for fork in forks(state.graph)
    ]
    assert found == ([(4, {"4", "4 again"})] if name == "d" else [])
    assert state.forked == ({held(name)[0].log} if name == "d" else set())


@pytest.mark.parametrize("name", ["b", "c", "f"])
def test_what_fills_the_gaps_gives_the_state_of_a_whole_feed(name):
    messages = [feed(name)[str(number)] for number in range(1, 7)]
    assert reduce([*held(name), *messages]).state_hash == reduce(messages).state_hash
    assert reduce(messages).final_length == 6


def test_a_fork_behind_a_gap_is_disputed_by_no_policy_but_that_of_one_parent():
    entries = held("d")
    assert len(reduce(entries, "freeze").view) == len(entries)
    with_parent = [*entries, feed("d")["3"]]
    assert [each.seq for each in reduce(with_parent).graph.entries] == [1, 2, 3, 4, 4, 5]
    frozen = reduce(with_parent, "freeze")
    assert len(frozen.view) == 3


def test_a_message_after_a_gap_is_no_other_start_of_its_feed():
    first = ssb_value(TABLET, None, 1, 1, {"type": "post", "text": "first"})
    elsewhere = ssb_value(TABLET, None, 1, 9, {"type": "post", "text": "of another start"})
    second = ssb_value(TABLET, elsewhere, 2, 10, {"type": "post"})
    entries = [read_line(compact(value)) for value in (first, second)]
    state = reduce(entries, "freeze")
    assert forks(state.graph) == []
    assert state.forked == set()
    assert set(state.view) == {each.record_id for each in entries}
    both = reduce([read_line(compact(value)) for value in (first, elsewhere)], "freeze")
    assert [each.seq for each in forks(both.graph)] == [1]
    assert both.view == ()

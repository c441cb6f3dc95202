"""The writer of own journals: order, commits, what stops it, and the ways out."""

import hashlib
from itertools import permutations

import pytest

from strandline.dialects.sdmp.author import (
    announced_resource,
    append,
    decide,
    new_resources,
    next_commit,
    pending,
    restored_resource,
    synthetic,
    synthetic_id,
)
from strandline.dialects.sdmp.codec import announce, batch, parse_line, record_id, render
from strandline.dialects.sdmp.types import NodeResource
from strandline.dialects.sdmp.verify import judge, tree_of_lines
from support.own_cases import journal_of, own_node, pair_of, pairs_of
from support.own_lake import OwnLake

X, Y = synthetic_id("node", 10), synthetic_id("node", 11)
WHERE = f"node:{X}"


def row(resource, ingest_no=1, seq=None, frame_no=0, frame_hash=b"", pos=0):
    return NodeResource(
        WHERE, *pair_of((0, resource)), ingest_no, seq, frame_no, pos, frame_hash, "announced"
    )


IN_ORDER = [
    row(9, 1, 0, 7, b"b", 3),
    row(8, 1, 2, 1, b"a", 0),
    row(7, 1, 2**64 - 1, 0, b"", 0),
    row(6, 1, None, 1, b"b", 9),
    row(5, 1, None, 2, b"a", 9),
    row(4, 1, None, 2, b"b", 0),
    row(3, 1, None, 2, b"b", 1),
    row(2, 2, 0, 0, b"", 0),
]


def test_run_seq_frame_bytes_and_place_decide_the_order_one_after_the_other():
    expected = tuple(row.pair for row in IN_ORDER)
    for rows in (IN_ORDER[::-1], IN_ORDER[3:] + IN_ORDER[:3]):
        assert pending(rows, ()) == expected
    assert pending(IN_ORDER, {row.pair for row in IN_ORDER[1:]}) == expected[:1]


def test_of_a_pair_announced_twice_the_earlier_row_stays():
    earlier, later, other = row(1, seq=0, pos=5), row(1, seq=1, pos=0), row(2)
    for rows in permutations([earlier, later, other]):
        assert set(new_resources({}, rows).values()) == {earlier, other}
    key = (WHERE, *earlier.pair)
    assert new_resources({key: later}, [earlier, other]) == {(WHERE, *other.pair): other}


def test_an_announced_row_knows_its_frame_and_a_restored_one_its_line():
    pair = pair_of((1, 2))
    found = announced_resource(X, pair, ingest_no=4, seq=5, frame=b"{}", frame_no=6, pos=7)
    digest = hashlib.sha256(b"{}").digest()
    assert found == NodeResource(WHERE, *pair, 4, 5, 6, 7, digest, "announced")
    first, third = (parse_line(raw, "0.9") for raw in journal_of(X, [(0, 0), (1, 2)])[::2])
    assert restored_resource(X, first, 1, ingest_no=4) is None
    assert restored_resource(X, third, 3, ingest_no=4) == NodeResource(
        WHERE, *pair, 4, None, 2, 0, third.record_id, "restored"
    )


@pytest.mark.parametrize("profile", ["0.9", "0.12"])
def test_commits_of_any_size_write_the_same_journal(profile):
    whole = list(synthetic(0, 8, profile))
    node = whole[0].decode()
    pairs = [parse_line(raw, profile).pair for raw in whole[1:]]
    for limit in (1, 3, 7, 250_000):
        held = whole[:1]
        for _ in pairs:
            lines = next_commit(tree_of_lines(node, held), pairs[len(held) - 1 :], limit)
            assert len(lines) <= limit
            held += lines
        assert held == whole


def test_a_commit_continues_the_longest_branch():
    lines = journal_of(X, [(0, 0), (0, 1), (0, 2)])
    branch = next(append(lines[1], [pair_of((5, 5))]))
    (written,) = next_commit(tree_of_lines(X, [*lines, branch]), [pair_of((1, 1))])
    assert written == next(append(lines[-1], [pair_of((1, 1))]))


def test_pairs_that_are_no_ids_are_never_written():
    good, bad = pair_of((0, 0)), (X, Y + "/" + X)
    with pytest.raises(ValueError, match="ids of profile"):
        next_commit(tree_of_lines(X, []), [good, bad])
    for pair in ((X, Y.upper()), (X, ""), (X[1:], Y + "0"), ("\ud800", Y), (f"{X}/{X}", "")):
        with pytest.raises(ValueError, match="ids of profile"):
            list(append(X.encode(), [pair]))


@pytest.mark.parametrize(
    ("leaves", "shown", "codes"),
    [
        (1, [], ()),
        (1, [b"held"], ()),
        (1, [b"held", b"other"], ("OWN_JOURNAL_BEHIND",)),
        (2, [b"held"], ("OWN_JOURNAL_FORKED",)),
        (3, [b"other"], ("OWN_JOURNAL_BEHIND", "OWN_JOURNAL_FORKED")),
    ],
)
def test_the_writer_stops_for_several_leaves_and_for_shown_lines_that_are_not_held(leaves, shown, codes):
    for forced in (False, True):
        decision = decide(X, leaf_count=leaves, quarantined=shown, stored={b"held"}, forced=forced)
        assert (decision.node, decision.codes, decision.writes) == (X, codes, forced or not codes)


OURS = journal_of(X, [(0, 1), (0, 2), (0, 3), (0, 4)])
LAST = OURS[-1]


def behind():
    """A lake that runs from an old backup: it lacks the last line of its own node, which a peer then shows."""
    lake = OwnLake([own_node(X, Y), own_node(Y)])
    lake.run({"backup": render(OURS[:-1])}, restore=[X])
    written = lake.run({"shown": render(OURS), "announced": announce(X, [pair_of((1, 1))])})
    assert (written.counts.rejected, written.lines) == (1, {})
    assert written.stopped == {X: ("OWN_JOURNAL_BEHIND",)}
    return lake


def test_a_shown_line_that_is_not_held_stops_its_node_and_no_other():
    lake = behind()
    assert [row.reasons for row in lake.rows("rejected")] == [("OWN_LINE_NOT_HELD",)]
    written = lake.run({"a": announce(X, [pair_of((1, 2))]) + b"\n" + announce(Y, [pair_of((1, 2))])})
    assert (written.counts.new, written.lines) == (2, {Y: 1})
    assert written.stopped == lake.sync().stopped == {X: ("OWN_JOURNAL_BEHIND",)}
    assert lake.run({}).stopped == written.stopped


def test_a_restore_admits_the_line_and_what_was_pending_is_written_after_it():
    lake = behind()
    written = lake.run({"shown": render(OURS)}, restore=[X])
    assert (written.stopped, written.lines) == ({}, {X: 1})
    trunk = [link.raw for link in lake.tree(X).trunk()]
    assert trunk == journal_of(X, [(0, 1), (0, 2), (0, 3), (0, 4), (1, 1)])
    held = {row.pair: row.origin for row in lake.resources.values()}
    assert held == {
        **dict.fromkeys(pairs_of([(0, 1), (0, 2), (0, 3), (0, 4)]), "restored"),
        pair_of((1, 1)): "announced",
    }


def test_a_forced_run_goes_on_from_the_tip_keeps_the_evidence_and_ends_with_the_run():
    lake = behind()
    before = dict(lake.quarantine)
    written = lake.run({}, force=[X])
    assert (written.stopped, written.lines, lake.quarantine) == ({}, {X: 1}, before)
    written = lake.run({"a": announce(X, [pair_of((1, 9))])})
    assert (written.stopped, written.lines) == ({X: ("OWN_JOURNAL_BEHIND",)}, {})


def test_a_fork_that_a_restore_brings_in_stops_the_writer_until_it_is_forced():
    lake = OwnLake([own_node(X)])
    other = next(append(OURS[1], [pair_of((5, 5))]))
    lake.run({"a": render(OURS), "b": batch(X, X, [other])}, restore=[X])
    announced = {"c": announce(X, [pair_of((1, 1)), pair_of((5, 5))])}
    assert lake.run(announced).stopped == {X: ("OWN_JOURNAL_FORKED",)}
    assert lake.sync(force=[X]).lines == {X: 1}
    assert lake.tree(X).trunk()[-2].raw == LAST


def test_an_old_journal_of_a_node_that_becomes_own_counts_as_held():
    lake = OwnLake([])
    lake.run({"a": render(OURS)})
    lake.own = {X: own_node(X)}
    assert lake.run({"b": announce(X, [pair_of((0, 2)), pair_of((1, 1))])}).lines == {X: 1}
    assert lake.tree(X).trunk()[-2].raw == LAST


def test_lines_that_waited_when_a_node_becomes_own_stop_its_writer():
    lake = OwnLake([])
    lake.run({"a": batch(X, X, [LAST])})
    assert [row.status for row in lake.rows("deferred")] == ["deferred"]
    lake.own = {X: own_node(X)}
    assert lake.run({"b": announce(X, [pair_of((1, 1))])}).stopped == {X: ("OWN_JOURNAL_BEHIND",)}
    assert lake.run({"a": render(OURS[:-1])}, restore=[X]).stopped == {}
    pairs = [parse_line(raw, "0.9").pair for raw in OURS[1:]]
    restored = [row.pair for row in lake.resources.values() if row.origin == "restored"]
    assert sorted(restored) == sorted(pairs)
    assert [link.line.pair for link in lake.tree(X).trunk()[1:]] == [*pairs, pair_of((1, 1))]


def test_what_the_writer_writes_any_reader_accepts():
    lake = OwnLake([own_node(X)], limit=2)
    pairs = pairs_of((k % 3, k) for k in range(9))
    assert lake.run({"a": announce(X, pairs)}).lines == {X: 9}
    lines = [link.raw for link in lake.tree(X).trunk()]
    assert judge(X, [lines]).new == 10
    assert [parse_line(raw, "0.9").pair for raw in lines[1:]] == pairs
    assert set(lake.state(X).n) == {record_id(raw) for raw in lines}

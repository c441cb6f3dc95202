"""What an own node knows of its peers, wants, and asks them for."""

import pytest

from strandline.dialects.sdmp.author import append, synthetic_id
from strandline.dialects.sdmp.codec import announce, batch, line_hash, parse_requests, render
from strandline.dialects.sdmp.reduce import PeerStatus, peer_statuses, requests
from strandline.dialects.sdmp.types import JournalRequest, ResourceRequest, record_id
from strandline.dialects.sdmp.verify import tree_of_lines
from support.own_cases import USER, journal_of, own_node, pair_of, pairs_of
from support.own_lake import OwnLake

X, P, Q = (synthetic_id("node", i) for i in (10, 11, 12))
X12, P12 = (synthetic_id("node", i, "0.12") for i in (10, 11))


def lake_of(own, *journals, announced=()):
    lake = OwnLake([own])
    files = {str(i): render(journal) for i, journal in enumerate(journals)}
    lake.run({**files, "own": announce(own.node, announced)})
    return lake


def test_a_peer_of_which_nothing_is_held_is_known_by_its_fingerprint():
    (row,) = peer_statuses(own_node(X, P), {}, {})
    assert row == PeerStatus(f"node:{X}", P, USER, 1, None, P, line_hash(P.encode()), 1, 0, 0, False)


def test_a_row_tells_the_tip_of_the_peer_and_how_far_it_is_recorded():
    journal = journal_of(P, [(0, 1), (0, 2), (0, 3), (0, 1)])
    lake = lake_of(own_node(X, Q, P), journal, announced=pairs_of([(0, 1), (0, 3)]))
    status, other = lake.peer_statuses(X)
    assert [row.peer for row in (status, other)] == sorted([P, Q])
    tip = journal[-1]
    assert status == PeerStatus(
        f"node:{X}", P, USER, 5, tip[:64].decode(), tip.decode(), line_hash(tip), 2, 1, 0, False
    )
    lake.sync()
    row = lake.peer_statuses(X)[0]
    assert (row.recorded_n, row.unrecorded) == (5, 0)


def test_all_branches_count_as_named_but_only_the_trunk_as_recorded_up_to():
    journal = journal_of(P, [(0, 1), (0, 2)])
    branch = next(append(journal[0], [pair_of((5, 5))]))
    lake = lake_of(own_node(X, P), [*journal], announced=pairs_of([(0, 1), (0, 2)]))
    lake.run({"branch": batch(P, P, [branch])})
    (row,) = lake.peer_statuses(X)
    assert (row.last_known_n, row.recorded_n, row.unrecorded, row.diverged) == (3, 3, 1, True)
    assert lake.sync().lines == {X: 1}


def test_waiting_lines_make_a_peer_diverge_and_are_asked_for_from_line_1():
    journal = journal_of(P, [(0, 1), (0, 2), (0, 3)])
    lake = lake_of(own_node(X, P), journal[:2])
    lake.run({"gap": batch(P, P, journal[3:])})
    (row,) = lake.peer_statuses(X)
    assert (row.last_known_n, row.deferred_lines, row.diverged) == (2, 1, True)
    assert requests(X, [row], []) == (JournalRequest(X, P, P, 10_000),)
    lake.run({"rest": render(journal)})
    (row,) = lake.peer_statuses(X)
    assert (row.deferred_lines, row.diverged) == (0, False)
    assert requests(X, [row], []) == (JournalRequest(X, P, journal[-1][:64].decode(), 10_000),)


def test_only_authors_of_the_connections_are_taken_if_the_node_says_so():
    friends = [X, USER, P]
    strangers = synthetic_id("author", 1), Q
    resources = [synthetic_id("resource", i) for i in range(5)]
    pairs = list(zip([*friends, *strangers], resources, strict=True))
    mixed = [pairs[3], pairs[0], pairs[4], pairs[1], pairs[2]]
    journal = [P.encode(), *append(P.encode(), mixed)]
    choosy = lake_of(own_node(X, P, record="connections"), journal)
    (row,) = choosy.peer_statuses(X)
    assert (row.recorded_n, row.unrecorded) == (2, 3)
    assert {(row.author_fp, row.resource_id) for row in choosy.wanted(X)} == set(pairs[:3])
    assert choosy.sync().lines == {X: 3}
    (row,) = choosy.peer_statuses(X)
    assert (row.recorded_n, row.unrecorded) == (6, 0)
    everybody = lake_of(own_node(X, P), journal)
    assert everybody.sync().lines == {X: 5}


def test_a_recorded_pair_is_wanted_of_every_peer_that_names_it_whoever_its_author_is():
    pair = pair_of((1, 1))
    lake = lake_of(own_node(X, P), journal_of(P, [(1, 1)]))
    lake.sync()
    lake.own = {X: own_node(X, P, record="connections")}
    (row,) = lake.wanted(X)
    assert ((row.author_fp, row.resource_id), row.named_by, row.recorded) == (pair, (P,), True)


def test_what_the_node_holds_is_not_wanted_and_what_nobody_names_is_asked_of_nobody():
    lake = lake_of(own_node(X, P), journal_of(P, [(0, 1), (0, 2)]), announced=[pair_of((0, 1))])
    lake.sync()
    assert [(row.author_fp, row.resource_id) for row in lake.wanted(X)] == [pair_of((0, 2))]
    lake.own = {X: own_node(X)}
    (row,) = lake.wanted(X)
    assert (row.named_by, row.recorded) == ((), True)
    assert requests(X, [], [row]) == ()


def test_0_12_writes_a_pair_only_when_its_resource_was_announced():
    journal = journal_of(P12, [(0, 1), (0, 2)])
    lake = lake_of(own_node(X12, P12), journal)
    assert lake.sync().lines == {}
    wanted = [(row.author_fp, row.resource_id, row.recorded) for row in lake.wanted(X12)]
    assert wanted == sorted((*pair_of((0, i), "0.12"), False) for i in (1, 2))
    brought = announce(X12, [pair_of((0, 2), "0.12")])
    assert lake.run({"brought": brought}).lines == {X12: 1}
    assert [row.resource_id for row in lake.wanted(X12)] == [pair_of((0, 1), "0.12")[1]]


def test_requests_come_by_peer_journals_first_then_pairs():
    journals = [journal_of(Q, [(0, 2), (0, 1)]), journal_of(P, [(0, 1), (0, 3)])]
    lake = lake_of(own_node(X, P, Q), *journals)
    p, q = (journal[-1][:64].decode() for journal in reversed(journals))
    pairs = {i: pair_of((0, i)) for i in (1, 2, 3)}
    expected = [JournalRequest(X, P, p, 10_000)]
    expected += [ResourceRequest(X, P, *pair) for pair in sorted([pairs[1], pairs[3]])]
    expected += [JournalRequest(X, Q, q, 10_000), ResourceRequest(X, Q, *pairs[2])]
    assert list(parse_requests(lake.requests())) == expected
    assert sorted([P, Q]) == [P, Q]


@pytest.mark.parametrize("node", [X, X12])
def test_a_node_without_peers_wants_nothing_and_asks_nothing(node):
    lake = lake_of(own_node(node), journal_of(P, [(0, 1)]))
    assert (lake.peer_statuses(node), lake.wanted(node), lake.requests()) == ((), (), b"")


def test_a_pair_has_the_place_of_its_first_line_whatever_the_order_of_the_lines():
    journal = journal_of(P, [(0, 1), (0, 2), (0, 1)])
    first = record_id(journal[1])
    for lines in (journal, journal[::-1]):
        assert tree_of_lines(P, lines).pairs()[pair_of((0, 1))] == (2, first)


def test_a_peer_whose_journal_forks_is_asked_for_what_follows_its_tip():
    journal = journal_of(P, [(0, 1), (0, 2)])
    branch = next(append(journal[0], [pair_of((5, 5))]))
    lake = lake_of(own_node(X, P), journal)
    lake.run({"branch": batch(P, P, [branch])})
    (row,) = lake.peer_statuses(X)
    assert (row.diverged, row.deferred_lines) == (True, 0)
    assert requests(X, [row], []) == (JournalRequest(X, P, journal[-1][:64].decode(), 10_000),)

"""The vectors of writing and synchronising, byte for byte."""

import hashlib

import pytest

from strandline.dialects.sdmp.author import sync
from strandline.dialects.sdmp.codec import announce, line_hash, parse_line, render
from support.own_cases import journal_of, node_of, own_document, own_node, pair_of, pairs_of
from support.own_lake import OwnLake
from support.sdmp_cases import document, line

VECTOR = own_document()
X, P, Q = node_of("X"), node_of("P"), node_of("Q")
NAMES = {X: "X", P: "P", Q: "Q"}
ANNOUNCED = announce(X, pairs_of(VECTOR["announced"]))


def started(*own):
    """A lake with the journals of the vector as they are before the synchronisation."""
    lake = OwnLake(own)
    peers = {name: render(journal_of(node_of(name), pairs)) for name, pairs in VECTOR["peers"].items()}
    lake.run(peers, restore=[node.node for node in own if node.node != X])
    lake.run({"announced": ANNOUNCED})
    return lake


@pytest.fixture
def lake():
    return started(own_node(X, Q, P))


def by_peer(lake):
    return {NAMES[row.peer]: [row.recorded_n, row.unrecorded] for row in lake.peer_statuses(X)}


def test_the_journals_start_as_published(lake):
    assert {name: node_of(name)[:8] for name in "PQ"} == VECTOR["node_heads"]
    for name, expected in VECTOR["start"].items():
        trunk = lake.tree(node_of(name)).trunk()
        assert (len(trunk), trunk[-1].hash) == (expected["n"], expected["tip_hash"])


def test_a_synchronisation_appends_the_published_lines_and_a_second_one_nothing(lake):
    assert by_peer(lake) == VECTOR["peer_status_before"]
    assert lake.sync().lines == {X: 3}
    trunk = lake.tree(X).trunk()
    assert [link.line.pair for link in trunk[3:]] == pairs_of(VECTOR["appended"])
    row = lake.state(X).journal
    expected = VECTOR["synced"]
    assert (row.tip_n, row.tip_hash, row.tip_number) == (
        expected["n"], expected["tip_hash"], expected["tip_number"],
    )  # fmt: skip
    assert row.state_hash == expected["state_hash"]
    assert by_peer(lake) == VECTOR["peer_status_after"]
    assert lake.sync().lines == {}


def test_what_is_wanted_after_the_synchronisation_is_what_peers_named(lake):
    lake.sync()
    found = [
        ((row.author_fp, row.resource_id), [NAMES[peer] for peer in row.named_by], row.recorded)
        for row in lake.wanted(X)
    ]
    expected = [(pair_of(pair), names, True) for pair, names in VECTOR["wanted_after"]]
    assert sorted(found) == sorted(expected)
    assert found == sorted(found)


def test_one_round_of_three_own_nodes_reads_each_as_it_was_at_the_start():
    lake = started(own_node(X, P, Q), own_node(P, Q, X), own_node(Q, X, P))
    assert lake.sync().lines == {X: 3, P: 2, Q: 2}
    assert {name: lake.tip_hash(node_of(name)) for name in "XPQ"} == VECTOR["one_round_of_three"]


def test_sync_as_a_function_of_lines_gives_the_same_lines():
    peers = {node_of(name): journal_of(node_of(name), pairs) for name, pairs in VECTOR["peers"].items()}
    own = journal_of(X, VECTOR["announced"])
    appended = sync(own, [], peers)
    assert len(appended) == 3
    assert line_hash(appended[-1]) == VECTOR["synced"]["tip_hash"]
    assert sync([X.encode()], pairs_of(VECTOR["announced"]), peers) == [*own[1:], *appended]


@pytest.mark.parametrize(
    ("own", "pending", "peers"),
    [
        ([], [], {}),
        (journal_of(X, [(0, 1)])[1:], [], {}),
        (journal_of(X, [(0, 1)])[::-1], [], {}),
        ([X.encode(), b"x"], [], {}),
        ([X.encode()], [("a", "r")], {}),
        ([X.encode()], [], {P: journal_of(P, [(0, 1), (0, 2)])[2:]}),
        ([X.encode()], [], {P: journal_of(Q, [(0, 1)])}),
        ([X.encode()], [], {"P": []}),
    ],
)
def test_synchronising_what_is_no_journal_is_a_wrong_call(own, pending, peers):
    with pytest.raises(ValueError, match="must"):
        sync(own, pending, peers)


def test_a_frame_with_seq_is_written_before_one_without_that_stands_above_it():
    order = VECTOR["order_of_two_frames"]
    frames = [announce(X, pairs_of(frame["pairs"]), frame.get("seq")) for frame in order["frames"]]
    lake = OwnLake([own_node(X)])
    lake.run({"a": b"\n".join(frames)})
    trunk = lake.tree(X).trunk()
    assert [link.line.pair for link in trunk[1:]] == pairs_of(order["written"])
    assert trunk[-1].hash == VECTOR["start"]["X"]["tip_hash"]


def test_the_published_example_announced_comes_out_corrected():
    node = line("published 0.9 line 1").decode()
    published = [parse_line(line(f"published 0.9 line {k}"), "0.9").pair for k in ("2", "3 corrected")]
    lake = OwnLake([own_node(node)])
    lake.run({"a": announce(node, published)})
    corrected = next(case for case in document()["files"] if case["name"] == "corrected 0.9 file")
    text = render(link.raw for link in lake.tree(node).trunk())
    assert hashlib.sha256(text).hexdigest() == corrected["sha256"]

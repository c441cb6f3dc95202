"""Laws of own journals: what is written, by whom and however often it is disturbed, and what exchange leads to."""

from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strandline.dialects.sdmp.author import next_commit, pending, synthetic_id
from strandline.dialects.sdmp.codec import announce, parse_requests, profile_of, render, render_requests
from strandline.dialects.sdmp.types import JournalRequest, NodeResource
from strandline.dialects.sdmp.verify import tree_of_lines
from support.laws import law
from support.own_cases import journal_of, own_node, pair_of, pairs_of
from support.own_lake import OwnLake

LAW = law(25)
PROFILES = st.sampled_from(["0.9", "0.12"])
NUMBERS = st.tuples(st.integers(0, 2), st.integers(0, 4))
FRAMES = st.lists(
    st.tuples(st.lists(NUMBERS, min_size=1, max_size=4), st.none() | st.integers(0, 3)),
    min_size=1,
    max_size=3,
)


def announced(node, frames):
    profile = profile_of(node)
    return b"\n".join(announce(node, pairs_of(pairs, profile), seq) for pairs, seq in frames)


def journal_is_one_chain_without_repetition(lake, node):
    journal = lake.tree(node)
    pairs = [link.line.pair for link in journal.links.values() if link.line.pair is not None]
    assert len(journal.leaves()) == 1
    assert len(set(pairs)) == len(pairs)
    assert sorted(journal.n.values()) == list(range(1, len(pairs) + 2))


NODE = st.integers(0, 1)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["land", "run"]), NODE, FRAMES),
        st.tuples(st.sampled_from(["write", "sync"]), NODE, st.none()),
        st.tuples(st.just("step"), st.integers(0, 2), st.none()),
    ),
    min_size=3,
    max_size=12,
)
"""What happens to two own nodes: something is announced (and written), a writer starts, one takes a step."""


@law(40)
@given(PROFILES, EVENTS, st.integers(1, 3), st.lists(NUMBERS, min_size=1, max_size=4))
@example("0.9", [("sync", 0, None), ("run", 0, [([(1, 1)], None)]), ("step", 0, None)], 3, [(0, 0)])
def test_an_own_journal_never_forks_nor_names_a_pair_twice(profile, events, limit, of_peer):
    nodes = [synthetic_id("node", i, profile) for i in (0, 1)]
    peer = synthetic_id("node", 2, profile)
    lake = OwnLake([own_node(nodes[0], nodes[1], peer), own_node(nodes[1], nodes[0])], limit=limit)
    lake.run({"peer": render(journal_of(peer, of_peer))})
    writers = []
    for kind, which, frames in events:
        if kind == "land":
            lake.take({"a": announced(nodes[which], frames)})
        elif kind == "run":
            lake.run({"a": announced(nodes[which], frames)})
        elif kind == "step" and writers:
            # A step reads the tip or commits. Who gets no further step was killed there.
            next(writers[which % len(writers)], None)
        elif kind != "step":
            pairs = lake.pairs_to_sync() if kind == "sync" else lake.pending_of
            writers.append(lake.writer(nodes[which], pairs))
            next(writers[-1])
        for node in nodes:
            journal_is_one_chain_without_repetition(lake, node)
    lake.run({})
    for node in nodes:
        journal_is_one_chain_without_repetition(lake, node)
        assert lake.pending_of(node, lake.tree(node)) == ()
    assert lake.run({}).lines == {}


@st.composite
def connected_graphs(draw):
    """The peers of each node: a random tree and some edges more."""
    count = draw(st.integers(2, 5))
    edges = {(draw(st.integers(0, k - 1)), k) for k in range(1, count)}
    edges |= draw(st.sets(st.sampled_from(list(combinations(range(count), 2))), max_size=3))
    return {k: {a + b - k for a, b in edges if k in (a, b)} for k in range(count)}


def balls(graph):
    """The nodes within distance 0, 1, 2 .. of each node, until that is all of them for each."""
    reached = {k: {k} for k in graph}
    yield reached
    while any(len(each) < len(graph) for each in reached.values()):
        reached = {k: set().union(each, *(graph[near] for near in each)) for k, each in reached.items()}
        yield reached


@LAW
@given(connected_graphs())
def test_after_r_rounds_a_node_has_the_pairs_within_r_steps_and_after_the_diameter_all(graph):
    nodes = {k: synthetic_id("node", k) for k in graph}
    lake = OwnLake(own_node(nodes[k], *(nodes[near] for near in graph[k])) for k in graph)
    lake.run({str(k): announce(nodes[k], [pair_of((k, k))]) for k in graph})
    for number, ball in enumerate(balls(graph)):
        if number:
            assert lake.sync().lines
        for k, reached in ball.items():
            assert set(lake.tree(nodes[k]).pairs()) == set(pairs_of((near, near) for near in reached))
    assert lake.sync().lines == {}


@LAW
@given(st.lists(NUMBERS, max_size=5), st.lists(NUMBERS, max_size=5), st.lists(NUMBERS, max_size=5))
def test_a_second_sync_with_the_same_peers_appends_nothing(own, one, other):
    x, p, q = (synthetic_id("node", i) for i in range(3))
    lake = OwnLake([own_node(x, p, q)])
    lake.run(
        {"p": render(journal_of(p, one)), "q": render(journal_of(q, other)), "x": announced(x, [(own, None)])}
    )
    lake.sync()
    assert set(lake.tree(x).pairs()) == set(pairs_of([*own, *one, *other]))
    assert [(row.recorded_n, row.unrecorded) for row in lake.peer_statuses(x)] == [
        (len(journal) + 1, 0) for journal in (one if peer == p else other for peer in sorted([p, q]))
    ]
    assert lake.sync().lines == {}


ROWS = st.lists(
    st.tuples(NUMBERS, st.integers(1, 2), st.none() | st.integers(0, 2), st.integers(0, 1), st.binary(max_size=1)),
    unique_by=lambda row: row[0], max_size=9,
)  # fmt: skip


@LAW
@given(st.data(), PROFILES, ROWS, st.integers(1, 10))
def test_the_lines_written_depend_neither_on_the_order_of_rows_nor_on_the_size_of_commits(
    data, profile, rows, limit
):
    node = synthetic_id("node", 0, profile)
    resources = [
        NodeResource(f"node:{node}", *pair_of(pair, profile), run, seq, frame, pos, hash_, "announced")
        for pos, (pair, run, seq, frame, hash_) in enumerate(rows)
    ]
    whole = next_commit(tree_of_lines(node, []), pending(resources, ()))
    assert len(whole) == len(rows)
    held = []
    for _ in range(len(rows) + 1):
        shuffled = data.draw(st.permutations(resources))
        journal = tree_of_lines(node, held)
        held += next_commit(journal, pending(shuffled, journal.pairs()), limit)
    assert tuple(held) == whole


@LAW
@given(st.data(), st.lists(FRAMES, min_size=1, max_size=3))
def test_the_lines_written_do_not_depend_on_the_names_of_files(data, files):
    node = synthetic_id("node", 0)
    contents = [announced(node, frames) for frames in files]
    lakes = OwnLake([own_node(node)]), OwnLake([own_node(node)])
    lakes[0].run({str(i): content for i, content in enumerate(contents)})
    lakes[1].run({str(i): content for i, content in enumerate(data.draw(st.permutations(contents)))})
    assert lakes[0].resources == lakes[1].resources
    assert lakes[0].tip_hash(node) == lakes[1].tip_hash(node)


def exchanged(lakes):
    """Every operator syncs, asks all others, and ingests what they answer, until nothing moves."""
    for _ in range(9):
        before = [(dict(lake.namespaces), dict(lake.quarantine)) for lake in lakes.values()]
        asked = {}
        for name, lake in lakes.items():
            lake.sync()
            asked[name] = lake.requests()
        for name, lake in lakes.items():
            frames = [other.answers(asked[name]).frames for other in lakes.values() if other is not lake]
            files = {str(i): b"\n".join(each) for i, each in enumerate(frames)}
            counts = lake.run(files).counts
            assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred
        if before == [(lake.namespaces, lake.quarantine) for lake in lakes.values()]:
            return
    raise AssertionError("something always moves")


def operators(count):
    """Lakes of as many operators, each with one own node that has all others as peers."""
    nodes = [synthetic_id("node", i) for i in range(count)]
    return {node: OwnLake([own_node(node, *(each for each in nodes if each != node))]) for node in nodes}


@law(8)
@given(st.lists(st.lists(NUMBERS, max_size=4), min_size=3, max_size=3))
def test_three_operators_who_exchange_files_until_nothing_moves_hold_all_pairs(of_each):
    lakes = operators(3)
    for (node, lake), numbers in zip(lakes.items(), of_each, strict=True):
        lake.run({"own": announced(node, [(numbers, None)])})
    exchanged(lakes)
    everything = set(pairs_of(pair for numbers in of_each for pair in numbers))
    for node, lake in lakes.items():
        assert all(set(lake.tree(each).pairs()) == everything for each in lakes)
        assert [row.diverged for row in lake.peer_statuses(node)] == [False, False]
        assert not lake.quarantine
        assert all(lake.state(each).state_hash == lakes[each].state(each).state_hash for each in lake.nodes)


@pytest.mark.large
@law(8)
@given(st.integers(2, 4), st.data())
def test_a_fourth_operator_who_goes_on_from_an_old_backup_is_named_by_each_of_the_three(length, data):
    lakes = operators(4)
    *three, fourth = lakes
    for k, node in enumerate(lakes):
        count = length if node == fourth else 1
        lakes[node].run({"own": announced(node, [([(k % 3, 10 * k + i) for i in range(count)], None)])})
    history = [link.raw for link in lakes[fourth].tree(fourth).trunk()]
    exchanged(lakes)
    lost = data.draw(st.integers(1, length - 1))
    backup = OwnLake(lakes[fourth].own.values())
    backup.run({"backup": render(history[:-lost])}, restore=[fourth])
    backup.run({"own": announced(fourth, [([(0, 99)], None)])})
    lakes[fourth] = backup
    exchanged(lakes)
    # Who asks for what follows a line that the backup lacks is told nothing: then the whole journal is carried over.
    text = render(link.raw for link in backup.tree(fourth).trunk())
    for node in three:
        lakes[node].run({"carried": text})
    exchanged(lakes)
    for node in three:
        (row,) = lakes[node].state(fourth).forks
        assert (row.key, row.kind) == (fourth, "SDMP_FORK")
        diverged = {row.peer for row in lakes[node].peer_statuses(node) if row.diverged}
        assert diverged == {fourth}
    shown = backup.run({"shown": render(history)})
    assert (shown.counts.rejected, shown.stopped) == (lost, {fourth: ("OWN_JOURNAL_BEHIND",)})


TEXTS = st.text('a"\\\n\u2028', max_size=3)
REQUESTS = st.builds(JournalRequest, TEXTS, TEXTS, TEXTS, st.integers(1, 2**70))


@LAW
@given(st.lists(REQUESTS, max_size=4), st.binary(max_size=12))
def test_requests_are_read_back_and_no_bytes_among_them_raise(requests, noise):
    written = render_requests(requests)
    assert parse_requests(written) == tuple(requests)
    parse_requests(written[: len(noise)] + noise + written)

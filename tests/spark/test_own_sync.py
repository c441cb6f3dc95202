"""Peers of own nodes: what is known and wanted of them, what sync appends, asks and answers; as in plain Python."""

import json
import random
from dataclasses import astuple

from strandline.core.ids import bucket_of
from strandline.dialects.sdmp.author import synthetic_id
from strandline.dialects.sdmp.codec import announce, render
from support.agreement import assert_reduced_equal, expected_lines, stored_lines
from support.lakes import write_files
from support.own_cases import journal_of, node_of, own_document, own_node, pairs_of
from support.own_lake import OwnLake
from support.own_runs import own_run
from support.random_own import own_nodes, runs

VECTOR = own_document()
X, P, Q = (node_of(name) for name in "XPQ")


def assert_peers_equal(lake, reference) -> None:
    """Rows of peers and of wanted resources are those of the reference."""

    def placed(row) -> tuple:
        namespace, *rest = astuple(row)
        return namespace, bucket_of(namespace, 16), *rest

    statuses = [placed(row) for node in reference.own for row in reference.peer_statuses(node)]
    wanted = [placed(row) for node in reference.own for row in reference.wanted(node)]
    assert lake.rows("peer_status") == sorted(statuses, key=repr)
    assert lake.rows("wanted_resource") == sorted(wanted, key=repr)


ODD_REQUESTS = (
    b"",
    b'{"node":"a","to":"b"}',
    b"not json",
    json.dumps({"node": "a", "to": "../../x", "request": {"since": "y", "limit": 1}}).encode(),
    json.dumps({"node": "a", "to": "../../x", "request": {"since": "y", "limit": 2}}).encode(),
    json.dumps({"node": "a", "to": "\ud800", "request": {"since": "y", "limit": 2}}).encode(),
)


def odd_requests(own, reference) -> bytes:
    """Requests of peers for own journals from every line, and some that are none."""
    asked = list(ODD_REQUESTS)
    for number, node in enumerate(own):
        for link in reference.tree(node).links.values():
            since = link.number or node
            for limit in (1, 10**9, 0, 2.5, "3", True, None):
                if (number + len(asked)) % 3 or limit == 10**9:
                    request = {"node": "a", "to": node, "request": {"since": since, "limit": limit}}
                    asked.append(json.dumps(request).encode())
        unknown = {"node": "a", "to": node, "request": {"since": "0" * 64, "limit": 5}}
        asked.append(json.dumps(unknown).encode())
    return b"\n".join(asked)


def test_spark_and_reference_know_append_ask_and_answer_the_same(new_lake, tmp_path):
    own = own_nodes(random.Random(9), 100, strangers=20)
    lake, reference = new_lake(), OwnLake(own.values(), limit=9)
    force = frozenset(list(own)[::7])
    [first] = runs(10, own, 20, count=1)
    reference.run(first.files, restore=first.restore, force=force)
    lake.ingest(
        write_files(tmp_path / "in", first.files),
        own=own_run(own, restore=first.restore, force=force, limit=9),
    )
    lake.reduce(own=own_run(own))
    assert_peers_equal(lake, reference)
    assert any(row.diverged for node in own for row in reference.peer_statuses(node))
    expected = reference.sync(force=force)
    report = lake.sync(own_run(own, force=force, limit=9), requests=tmp_path / "ask.jsonl")
    assert report.members["stopped"] == {node: list(codes) for node, codes in expected.stopped.items()}
    assert report.counts["authored"] == sum(expected.lines.values()) > 0
    assert stored_lines(lake) == expected_lines(reference)
    assert_reduced_equal(lake, reference)
    assert_peers_equal(lake, reference)
    asked = reference.requests()
    assert (tmp_path / "ask.jsonl").read_bytes() == asked
    assert report.counts["requests"] == asked.count(b"\n")

    theirs = write_files(tmp_path, {"theirs.jsonl": asked + odd_requests(own, reference)}) / "theirs.jsonl"
    answered = lake.answer(own_run(own), theirs, tmp_path / "answers.jsonl")
    told = reference.answers(theirs.read_bytes())
    assert (tmp_path / "answers.jsonl").read_bytes() == b"".join(frame + b"\n" for frame in told.frames)
    assert {name: answered.counts[name] for name in ("answered", "not_found", "malformed", "resources")} == {
        "answered": len(told.frames), "not_found": len(told.not_found), "malformed": len(told.malformed),
        "resources": told.resources,
    }  # fmt: skip
    assert answered.members["refused_nodes"]["../../x"] == 2
    assert answered.counts["refused"] == sum(told.refused.values())


def test_the_vector_of_a_synchronisation(new_lake, tmp_path):
    lake = new_lake()
    peers = {name: render(journal_of(node_of(name), pairs)) for name, pairs in VECTOR["peers"].items()}
    files = write_files(tmp_path / "in", {**peers, "x.jsonl": announce(X, pairs_of(VECTOR["announced"]))})
    own = own_run([own_node(X, Q, P)])
    lake.ingest(files, own=own)
    lake.reduce(own=own)
    names = {P: "P", Q: "Q"}

    def statuses():
        rows = lake.rows("peer_status", "peer", "recorded_n", "unrecorded")
        return {names[peer]: [recorded, unrecorded] for peer, recorded, unrecorded in rows}

    assert statuses() == VECTOR["peer_status_before"]
    report = lake.sync(own)
    assert (report.exit, report.counts["authored"]) == (0, 3)
    assert statuses() == VECTOR["peer_status_after"]
    expected = VECTOR["synced"]
    rows = {
        name: rest
        for name, *rest in lake.rows("node_journal", "namespace", "tip_n", "tip_hash", "tip_number")
    }
    assert rows[f"node:{X}"] == [expected["n"], expected["tip_hash"], expected["tip_number"]]
    states = dict(lake.rows("namespace_state", "namespace", "state_hash"))
    assert states[f"node:{X}"].hex() == expected["state_hash"]
    wanted = [
        (pair, by) for *pair, by in lake.rows("wanted_resource", "author_fp", "resource_id", "named_by")
    ]
    assert sorted((tuple(pair), by) for pair, by in wanted) == sorted(
        (pair, tuple(sorted(node_of(name) for name in by)))
        for [pair], by in ((pairs_of([numbers]), by) for numbers, by in VECTOR["wanted_after"])
    )
    origins = lake.rows("node_journal_line", "namespace", "n", "origin")
    assert [origin for name, _, origin in origins if name == f"node:{X}"] == [
        "implied", "announced", "announced", "synced", "synced", "synced",
    ]  # fmt: skip
    again = lake.sync(own)
    assert (again.counts["authored"], "node_journal_line" in again.tables) == (0, False)
    # A peer that is no longer listed takes its rows along.
    lake.reduce(own=own_run([own_node(X, P)]))
    assert list(statuses()) == ["P"]
    assert lake.reduce(own=own_run([own_node(synthetic_id("node", 77))])).exit == 0
    assert (lake.rows("peer_status"), lake.rows("wanted_resource")) == ([], [])


def test_own_nodes_that_are_peers_of_each_other_read_each_other_as_of_the_start(new_lake, tmp_path):
    lake = new_lake()
    frames = {name: announce(node_of(name), pairs_of(pairs)) for name, pairs in VECTOR["peers"].items()}
    frames["X"] = announce(X, pairs_of(VECTOR["announced"]))
    own = own_run([own_node(X, P, Q), own_node(P, X, Q), own_node(Q, X, P)], limit=2)
    lake.ingest(write_files(tmp_path / "in", frames), own=own)
    lake.sync(own)
    tips = dict(lake.rows("node_journal", "namespace", "tip_hash"))
    assert tips == {f"node:{node_of(name)}": tip for name, tip in VECTOR["one_round_of_three"].items()}

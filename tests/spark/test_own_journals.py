"""Own journals through the pipelines: what is announced, restored and synchronised, as the pure-Python lake has it."""

import hashlib
import json
import random
from dataclasses import astuple, fields

import pytest

from strandline.core.errors import FaultError
from strandline.dialects.sdmp.author import synthetic_id
from strandline.dialects.sdmp.codec import announce, parse_line, render
from strandline.dialects.sdmp.spark import exchange
from strandline.frames import file_order
from strandline.pipelines import local_journals
from strandline.pipelines.faults import Faults
from support.agreement import assert_held_equal, assert_peers_equal, assert_reduced_equal, stored_lines
from support.kills import KilledError, killed_at
from support.lakes import counted, write_files
from support.own_cases import journal_of, node_of, own_document, own_node, pairs_of
from support.own_lake import OwnLake
from support.own_runs import own_run
from support.provenance import delivered
from support.random_own import local_nodes, runs
from support.reference import Counts
from support.sdmp_cases import document, line

VECTOR = own_document()
X, P, Q = (node_of(name) for name in "XPQ")
NAMES = [field.name for field in fields(Counts)]


def journal_text(lake, node: str) -> bytes:
    """The journal of a node without a fork, as a text."""
    mine = [(n, raw) for name, _, n, raw in stored_lines(lake) if name == f"node:{node}"]
    assert sorted(n for n, _ in mine) == list(range(1, len(mine) + 1))
    return render(raw for _, raw in sorted(mine))


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


def test_spark_and_reference_agree_on_random_own_nodes_over_runs_and_a_synchronisation(
    new_lake, tmp_path, monkeypatch
):
    own = local_nodes(random.Random(5), 100, strangers=15)
    lake, reference = new_lake(), OwnLake(own.values())
    for number, each in enumerate(runs(6, own, 15, count=2)):
        expected = reference.run(each.files, restore=each.restore, force=each.force)
        report = lake.ingest(
            write_files(tmp_path / f"in{number}", each.files),
            options=own_run(own, restore=each.restore, force=each.force),
        )
        assert report.members["stopped"] == {node: list(codes) for node, codes in expected.stopped.items()}
        assert report.exit == bool(expected.stopped)
        assert counted(report, NAMES) == dict(zip(NAMES, astuple(expected.counts), strict=True))
        assert report.counts["authored"] == sum(expected.lines.values())
        assert_held_equal(lake, reference)
    assert expected.stopped
    assert any(row.diverged for node in own for row in reference.peer_statuses(node))

    force = frozenset(list(own)[::7])
    expected = reference.sync(force=force)
    report = lake.sync(own_run(own, force=force), requests=tmp_path / "ask.jsonl")
    assert report.members["stopped"] == {node: list(codes) for node, codes in expected.stopped.items()}
    assert report.counts["authored"] == sum(expected.lines.values()) > 0
    assert_held_equal(lake, reference)
    assert_reduced_equal(lake, reference)
    assert_peers_equal(lake, reference)
    asked = reference.requests()
    assert (tmp_path / "ask.jsonl").read_bytes() == asked
    assert report.counts["requests"] == asked.count(b"\n")
    # Of very many requests the driver holds a small part at a time, and they are the same.
    with monkeypatch.context() as small:
        small.setattr(file_order, "PARTITION_BYTES", 1_000)
        parts = exchange.requests(own_run(own), lake.store())
        assert parts.rdd.getNumPartitions() > 8
        assert b"".join(row["line"].encode() + b"\n" for row in parts.toLocalIterator()) == asked

    theirs = (
        write_files(tmp_path, {"theirs.jsonl": asked + odd_requests(own, reference) + asked}) / "theirs.jsonl"
    )
    with pytest.raises(KilledError):
        lake.answer(own_run(own), theirs, tmp_path / "answers.jsonl", faults=killed_at("sync.manifest"))
    assert not (tmp_path / "answers.jsonl").exists()
    assert (tmp_path / "answers.jsonl.manifest.json").is_file()
    answered = lake.answer(own_run(own), theirs, tmp_path / "answers.jsonl")
    told = reference.answers(theirs.read_bytes())
    assert (tmp_path / "answers.jsonl").read_bytes() == b"".join(frame + b"\n" for frame in told.frames)
    assert {name: answered.counts[name] for name in ("answered", "not_found", "malformed", "resources")} == {
        "answered": len(told.frames), "not_found": len(told.not_found), "malformed": len(told.malformed),
        "resources": told.resources,
    }  # fmt: skip
    assert answered.members["refused_nodes"]["../../x"] == 2
    assert answered.counts["refused"] == sum(told.refused.values())
    assert (answered.members["refused_past_limit"], told.past_limit) == (0, ())

    most = answered.counts["lines"] // 2
    answered = lake.answer(own_run(own), theirs, tmp_path / "few.jsonl", most_lines=most)
    told = reference.answers(theirs.read_bytes(), most)
    assert (tmp_path / "few.jsonl").read_bytes() == b"".join(frame + b"\n" for frame in told.frames)
    assert 0 < answered.counts["lines"] <= most
    assert answered.counts["not_found"] == len(told.not_found)
    assert answered.members["refused_past_limit"] == len(told.past_limit) > 0
    assert answered.counts["refused"] == sum(told.refused.values()) + len(told.past_limit)


def test_the_vectors_of_writing_and_synchronising_byte_for_byte(new_lake, tmp_path):
    lake = new_lake()
    published = [parse_line(line(f"published 0.9 line {k}"), "0.9") for k in ("2", "3 corrected")]
    first, y = line("published 0.9 line 1").decode(), synthetic_id("node", 50)
    order = VECTOR["order_of_two_frames"]
    peers = {name: render(journal_of(node_of(name), pairs)) for name, pairs in VECTOR["peers"].items()}
    files = {
        **peers,
        "x.jsonl": announce(X, pairs_of(VECTOR["announced"])),
        "published.jsonl": announce(first, [each.pair for each in published]) + b"\n",
        "two.jsonl": b"\n".join(
            announce(y, pairs_of(frame["pairs"]), frame.get("seq")) for frame in order["frames"]
        ),
    }
    own = own_run([own_node(X, Q, P), own_node(first), own_node(y)])
    report = lake.ingest(write_files(tmp_path / "in", files), options=own)
    assert (report.exit, report.counts["read"], report.counts["new"], report.counts["authored"]) == (
        0,
        14,
        14,
        6,
    )
    lake.reduce(options=own)
    tips = {name: rest for name, *rest in lake.rows("node_journal", "namespace", "tip_n", "tip_hash")}
    assert tips[f"node:{X}"] == [VECTOR["start"]["X"]["n"], VECTOR["start"]["X"]["tip_hash"]]
    corrected = next(case for case in document()["files"] if case["name"] == "corrected 0.9 file")
    assert hashlib.sha256(journal_text(lake, first)).hexdigest() == corrected["sha256"]
    assert journal_text(lake, y) == render(journal_of(y, order["written"]))

    names = {P: "P", Q: "Q"}

    def statuses():
        rows = lake.rows("peer_status", "peer", "recorded_n", "unrecorded")
        return {names[peer]: [recorded, unrecorded] for peer, recorded, unrecorded in rows}

    assert statuses() == VECTOR["peer_status_before"]
    report = lake.sync(own)
    assert (report.exit, report.counts["authored"]) == (0, 3)
    assert statuses() == VECTOR["peer_status_after"]
    expected = VECTOR["synced"]
    tips = {
        name: rest
        for name, *rest in lake.rows("node_journal", "namespace", "tip_n", "tip_hash", "tip_number")
    }
    assert tips[f"node:{X}"] == [expected["n"], expected["tip_hash"], expected["tip_number"]]
    states = dict(lake.rows("namespace_state", "namespace", "state_hash"))
    assert states[f"node:{X}"].hex() == expected["state_hash"]
    wanted = {
        (author, resource): by
        for name, author, resource, by in lake.rows(
            "wanted_resource", "namespace", "author_fp", "resource_id", "named_by"
        )
        if name == f"node:{X}"
    }
    assert wanted == {
        pair: tuple(sorted(node_of(name) for name in by))
        for numbers, by in VECTOR["wanted_after"]
        for pair in pairs_of([numbers])
    }
    origins = lake.rows("node_journal_line", "namespace", "n", "origin")
    assert [origin for name, _, origin in origins if name == f"node:{X}"] == [
        "implied", "announced", "announced", "synced", "synced", "synced",
    ]  # fmt: skip
    # Lines that a local node wrote have no source; its resources have that of their announcement.
    brought = delivered(lake, "node_journal_line", "namespace")
    assert {source for name, source, _ in brought if name == f"node:{X}"} == {None}
    announced = {(name, source) for name, source, _ in delivered(lake, "node_resource", "namespace")}
    assert announced == {
        (f"node:{node}", str(tmp_path / "in" / name))
        for node, name in ((X, "x.jsonl"), (first, "published.jsonl"), (y, "two.jsonl"))
    }
    # A second time nothing is appended; peers that are no longer listed take their rows along.
    again = lake.sync(own_run([own_node(X)]))
    assert (again.counts["authored"], "node_journal_line" in again.tables) == (0, False)
    assert lake.rows("peer_status") == []
    assert {name for (name,) in lake.rows("wanted_resource", "namespace")} == {f"node:{X}"}


KILLS = (("ingest.node_resource", 1), ("authoring.commit", 1), ("authoring.tip", 2))
"""Each adds what the one before did not; the last one kills behind the second commit of three."""


def test_a_writer_killed_anywhere_and_overtaken_by_another_writes_each_pair_once_in_the_order_stated(
    new_lake, monkeypatch, tmp_path
):
    lake, nodes = new_lake(), [own_node(X), own_node(P)]
    own = own_run(nodes, limit=3)
    pairs = [[k % 3, k] for k in range(7)]
    frames = [announce(node.node, pairs_of(pairs)) for node in nodes]
    ordered = announce(X, pairs_of([[0, 3], [5, 5]]), 4)
    ours = write_files(tmp_path / "ours", {"a": b"\n".join(frames), "b": ordered})
    for point, nth in KILLS:
        with pytest.raises(KilledError):
            lake.ingest(ours, options=own, faults=killed_at(point, nth))
    theirs = write_files(tmp_path / "theirs", {"a": announce(X, pairs_of([[6, 6], [0, 0]]))})
    overtaken = []

    def overtake() -> None:
        overtaken.append(lake.ingest(theirs, options=own).counts["authored"])

    report = lake.ingest(ours, options=own, faults=Faults("authoring.tip", 1, overtake))
    assert (report.counts["new"], report.counts["known"]) == (0, 16)
    # The other one wrote what we had read as pending, too: two lines of X and one of P, and its own.
    assert (overtaken, report.counts["authored"]) == ([4], 0)
    first = [[0, 3], [5, 5]]
    rest = [pair for pair in pairs if pair not in first]
    written = [*first, *rest, [6, 6]]
    assert journal_text(lake, X) == render(journal_of(X, written))
    assert journal_text(lake, P) == render(journal_of(P, pairs))
    # A run that may not try again says so; what it had announced the other one has written.
    monkeypatch.setattr(local_journals, "ATTEMPTS", 1)
    late = write_files(tmp_path / "late", {"a": announce(X, pairs_of([[7, 7]]))})
    write_files(theirs, {"a": announce(X, pairs_of([[8, 8]]))})
    with pytest.raises(FaultError) as lost:
        lake.ingest(late, options=own, faults=Faults("authoring.tip", 1, overtake))
    assert (lost.value.code, " 1 times " in lost.value.message) == ("WRITE_CONFLICT", True)
    assert overtaken == [4, 2]
    assert journal_text(lake, X) == render(journal_of(X, [*written, [7, 7], [8, 8]]))


def test_a_writer_stops_for_one_node_alone_until_the_lines_shown_are_taken_from_quarantine(
    new_lake, tmp_path
):
    lake = new_lake()
    nodes = [own_node(X), own_node(P)]
    # Q becomes an own node later.
    first = {"x": announce(X, pairs_of([[0, 0]])), "q": announce(Q, pairs_of([[7, k] for k in (2, 0, 1)]))}
    report = lake.ingest(write_files(tmp_path / "in", first), options=own_run(nodes))
    assert report.reasons == {"NOT_OWN_NODE": 3}
    shown = {
        "carried.journal": render(journal_of(X, [[0, k] for k in range(4)])),
        "outbox": b"\n".join(announce(node, pairs_of([[1, 1]])) for node in (X, P)),
    }
    report = lake.ingest(write_files(tmp_path / "shown", shown), options=own_run(nodes))
    assert (report.exit, report.members["stopped"]) == (1, {X: ["OWN_JOURNAL_BEHIND"]})
    assert (report.reasons, report.counts["authored"]) == ({"OWN_LINE_NOT_HELD": 3}, 1)
    assert journal_text(lake, P) == render(journal_of(P, [[1, 1]]))
    forced = lake.ingest(options=own_run(nodes, force=[P]))
    assert (forced.exit, forced.counts["authored"]) == (1, 0)

    report = lake.ingest(from_quarantine=True, options=own_run([*nodes, own_node(Q)], restore=[X]))
    assert (report.exit, report.members["stopped"]) == (0, {})
    assert (report.counts["read"], report.counts["new"], report.counts["authored"]) == (6, 6, 4)
    assert lake.rows("quarantine") == []
    assert journal_text(lake, Q) == render(journal_of(Q, [[7, k] for k in (2, 0, 1)]))
    assert journal_text(lake, X) == render(journal_of(X, [*([0, k] for k in range(4)), [1, 1]]))
    held = lake.rows("node_resource", "namespace", "frame_no", "origin")
    assert sorted((n, origin) for name, n, origin in held if name == f"node:{X}") == [
        (0, "announced"), (0, "announced"), (2, "restored"), (3, "restored"), (4, "restored"),
    ]  # fmt: skip

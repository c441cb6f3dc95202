"""Own journals through the pipelines: what is announced is written as the pure-Python lake writes it."""

import hashlib
import random
from dataclasses import astuple, fields

import pytest

from strandline.core.ids import bucket_of
from strandline.dialects.sdmp.codec import announce, parse_line, render
from strandline.pipelines.faults import Faults
from support.agreement import QUARANTINE, assert_reduced_equal, expected_lines, stored_lines
from support.lakes import counted, write_files
from support.own_cases import journal_of, node_of, own_document, own_node, pairs_of
from support.own_lake import OwnLake
from support.own_runs import own_run
from support.random_own import own_nodes, runs
from support.reference import Counts
from support.sdmp_cases import document, line

VECTOR = own_document()
X = node_of("X")
NAMES = [field.name for field in fields(Counts)]


def journal_text(lake, node: str) -> bytes:
    """The journal of a node without a fork, as a text."""
    mine = [(n, raw) for name, _, n, raw in stored_lines(lake) if name == f"node:{node}"]
    assert sorted(n for n, _ in mine) == list(range(1, len(mine) + 1))
    return render(raw for _, raw in sorted(mine))


def assert_held_equal(lake, reference) -> None:
    """Lines, quarantine and resources are those of the reference."""
    assert stored_lines(lake) == expected_lines(reference)
    rows = sorted(map(astuple, reference.quarantine.values()), key=repr)
    assert lake.rows("quarantine", *QUARANTINE) == rows
    held = [
        (row.namespace, bucket_of(row.namespace, 16), *astuple(row)[1:4], None if row.seq is None else row.seq,
         row.frame_no, row.pos, row.frame_hash, row.origin)
        for row in reference.resources.values()
    ]  # fmt: skip
    found = [
        (*row[:5], None if row[5] is None else int(row[5]), *row[6:]) for row in lake.rows("node_resource")
    ]
    assert sorted(found, key=repr) == sorted(held, key=repr)


def test_spark_and_reference_write_the_same_journals_of_random_own_nodes(new_lake, tmp_path):
    own = own_nodes(random.Random(5), 100, strangers=10)
    lake, reference = new_lake(), OwnLake(own.values(), limit=5)
    for number, each in enumerate(runs(6, own, 10, count=2)):
        expected = reference.run(each.files, restore=each.restore, force=each.force)
        report = lake.ingest(
            write_files(tmp_path / f"in{number}", each.files),
            own=own_run(own, restore=each.restore, force=each.force, limit=5),
        )
        assert report.members["stopped"] == {node: list(codes) for node, codes in expected.stopped.items()}
        assert report.exit == bool(expected.stopped)
        assert counted(report, NAMES) == dict(zip(NAMES, astuple(expected.counts), strict=True))
        assert report.counts["authored"] == sum(expected.lines.values())
        assert_held_equal(lake, reference)
        lake.reduce()
        assert_reduced_equal(lake, reference)
    assert reference.rows("rejected")
    assert expected.stopped


def test_the_vectors_are_written_byte_for_byte(new_lake, tmp_path):
    lake = new_lake()
    published = [parse_line(line(f"published 0.9 line {k}"), "0.9") for k in ("2", "3 corrected")]
    first = line("published 0.9 line 1").decode()
    y = node_of("P")
    order = VECTOR["order_of_two_frames"]
    frames = [announce(y, pairs_of(frame["pairs"]), frame.get("seq")) for frame in order["frames"]]
    files = {
        "x.jsonl": announce(X, pairs_of(VECTOR["announced"])),
        "published.jsonl": announce(first, [each.pair for each in published]) + b"\n",
        "two.jsonl": b"\n".join(frames),
    }
    report = lake.ingest(
        write_files(tmp_path / "in", files), own=own_run([own_node(X), own_node(first), own_node(y)])
    )
    assert (report.exit, report.counts["read"], report.counts["new"]) == (0, 6, 6)
    lake.reduce()
    tips = {
        name: (n, hash_) for name, n, hash_ in lake.rows("node_journal", "namespace", "tip_n", "tip_hash")
    }
    assert tips[f"node:{X}"] == (VECTOR["start"]["X"]["n"], VECTOR["start"]["X"]["tip_hash"])
    corrected = next(case for case in document()["files"] if case["name"] == "corrected 0.9 file")
    assert hashlib.sha256(journal_text(lake, first)).hexdigest() == corrected["sha256"]
    assert journal_text(lake, y) == render(journal_of(y, order["written"]))


class Killed(BaseException):
    """The process is dead; nothing of it runs on."""


def killed_at(point: str, nth: int = 1) -> Faults:
    def die() -> None:
        raise Killed

    return Faults(point, nth, die)


KILLS = (("ingest.node_resource", 1), ("authoring.tip", 1), ("authoring.commit", 1), ("authoring.tip", 2))
"""Each adds what the one before did not; the last one kills behind the second commit of three."""


def test_a_writer_killed_at_every_point_and_run_again_writes_what_an_undisturbed_one_writes(
    new_lake, tmp_path
):
    nodes = [own_node(node_of(name)) for name in ("X", "P")]
    frames = [announce(node.node, pairs_of([[k % 3, k] for k in range(7)])) for node in nodes]
    again = announce(X, pairs_of([[0, 3], [5, 5]]), 4)
    source = write_files(tmp_path / "in", {"a": b"\n".join(frames), "b": again})
    own = own_run(nodes, limit=3)
    killed, calm = new_lake("killed"), new_lake("calm")
    for point, nth in KILLS:
        with pytest.raises(Killed):
            killed.ingest(source, own=own, faults=killed_at(point, nth))
    report = killed.ingest(source, own=own)
    assert (report.counts["new"], report.counts["known"]) == (0, 16)
    assert report.counts["authored"] > 0
    calm.ingest(source, own=own)
    for lake in (killed, calm):
        lake.reduce()
    assert killed.tables() == calm.tables()
    assert calm.rows("node_journal", "tip_n", "pair_count") == [(8, 7), (9, 8)]
    assert killed.ingest(source, own=own).tables == {}


def test_a_writer_that_another_one_overtook_starts_again_from_the_new_tip(new_lake, tmp_path):
    lake = new_lake()
    own = own_run([own_node(X)], limit=4)
    first, second = ([[0, k] for k in range(6)], [[0, k] for k in range(4, 9)])
    ours = write_files(tmp_path / "ours", {"a": announce(X, pairs_of(first))})
    theirs = write_files(tmp_path / "theirs", {"a": announce(X, pairs_of(second))})
    overtaken = []

    def overtake() -> None:
        overtaken.append(lake.ingest(theirs, own=own).counts["authored"])

    report = lake.ingest(ours, own=own, faults=Faults("authoring.tip", 2, overtake))
    # Behind our first commit the other one wrote all: what we had announced was pending for it, too.
    assert (report.counts["authored"], overtaken) == (4, [5])
    lake.reduce()
    assert lake.rows("node_journal", "tip_n", "line_count", "pair_count") == [(10, 10, 9)]
    assert journal_text(lake, X) == render(journal_of(X, [[0, k] for k in range(9)]))

"""Own journals through the pipelines: what is announced is written as the pure-Python lake writes it."""

import hashlib
import random
from dataclasses import astuple, fields

from strandline.core.ids import bucket_of
from strandline.dialects.sdmp.codec import announce, parse_line, render
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
    own = own_nodes(random.Random(5), 150, strangers=20)
    lake, reference = new_lake(), OwnLake(own.values(), limit=5)
    for number, each in enumerate(runs(6, own, 20, count=2)):
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

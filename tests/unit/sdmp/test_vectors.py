import hashlib
import json
from operator import itemgetter

import pytest

from strandline.dialects.sdmp.author import append, synthetic_id
from strandline.dialects.sdmp.codec import batch, line_hash, parse_line, profile_of, record_id, render
from strandline.dialects.sdmp.reduce import forks
from support.by_size import by_size
from support.reference import Counts, ReferenceLake
from support.sdmp_cases import accepted, cases, document, file, line, lines, rows

DOCUMENT = document()


@pytest.mark.parametrize("case", by_size(cases(), itemgetter("name")))
def test_a_case_gives_its_counts_lines_state_and_quarantine(case):
    lake = ReferenceLake(strict=case.get("strict", False))
    for run in case["runs"]:
        files = {name: file(recipe) for name, recipe in run["files"].items()}
        assert lake.ingest(files) == Counts(**run["counts"])
    assert {node: set(lake.state(node).lines.values()) for node in lake.nodes} == accepted(case)
    for node, state_hash in case.get("state_hash", {}).items():
        assert lake.state(line(node).decode()).state_hash == state_hash
    for node, count in case.get("forks", {}).items():
        state = lake.state(line(node).decode())
        assert (len(state.forks), state.journal.fork_count) == (count, count)
    found = {
        (row.namespace, row.status, row.reasons, row.raw, row.waits_for): json.loads(row.evidence)
        for row in lake.quarantine.values()
    }
    assert set(found) == {row.key for row in rows(case)}
    for row in rows(case):
        assert row.evidence.items() <= found[row.key][row.reasons[0]].items()


@pytest.mark.parametrize("case", DOCUMENT["files"], ids=lambda case: case["name"])
def test_a_described_file_has_its_published_digest(case):
    data = file(case["file"])
    assert (len(data), hashlib.sha256(data).hexdigest()) == (case["bytes"], case["sha256"])


@pytest.mark.large
@pytest.mark.parametrize(("label", "expected"), DOCUMENT["line_hashes"])
def test_a_line_has_its_published_hash(label, expected):
    raw = line(label)
    assert line_hash(raw, profile_of(expected)) == expected
    assert parse_line(raw, profile_of(expected)).hash == expected


@pytest.mark.parametrize(("kind", "i", "profile", "expected"), DOCUMENT["synthetic_ids"])
def test_a_synthetic_id_has_its_published_text(kind, i, profile, expected):
    assert synthetic_id(kind, i, profile) == expected


@pytest.mark.parametrize(("label", "expected"), DOCUMENT["record_ids"])
def test_a_record_id_is_sha256_in_both_profiles(label, expected):
    assert record_id(line(label)).hex() == parse_line(line(label), "0.12").record_id.hex() == expected


def test_the_wrong_published_number_is_not_that_of_a_line_with_newline_either():
    wrong = line("published 0.9 line 3 as printed").partition(b"@")[0].decode()
    with_newline = line_hash(line("published 0.9 line 2") + b"\n")
    assert with_newline == "08a223bb1424fe63a1c94807b591ff8af7865ac7233f600d9a58929931f791ac" != wrong


def test_announcing_the_published_pairs_writes_the_corrected_text():
    first = line("published 0.9 line 1")
    published = [parse_line(line(f"published 0.9 line {k}"), "0.9") for k in ("2", "3 corrected")]
    written = append(first, [(each.author, each.resource) for each in published])
    corrected = next(case for case in DOCUMENT["files"] if case["name"] == "corrected 0.9 file")
    assert hashlib.sha256(render([first, *written])).hexdigest() == corrected["sha256"]


def test_the_evidence_of_the_fork_has_its_published_digest():
    vector = DOCUMENT["fork_evidence"]
    held = {record_id(raw): parse_line(raw, "0.9") for raw in lines(vector["lines"])}
    (row,) = forks(line("J0.1").decode(), held)
    assert len(row.evidence) == vector["bytes"]
    assert hashlib.sha256(row.evidence.encode()).hexdigest() == vector["sha256"]
    assert row.position == vector["number"]
    assert row.members == tuple(sorted(record_id(line(label)) for label in ("J0.4", "4*")))
    assert (record_id(row.bytes_a), record_id(row.bytes_b)) == row.members
    assert (row.key, row.kind, row.member_count, row.attributable) == (
        line("J0.1").decode(),
        "SDMP_FORK",
        2,
        False,
    )


def test_a_frame_of_the_vectors_is_compact_ascii():
    assert batch(line("J0.1").decode(), line("J0.1").decode(), [b"x"]) == (
        b'{"node":"%s","journal":{"since":"%s","entries":["x"]}}' % (line("J0.1"), line("J0.1"))
    )

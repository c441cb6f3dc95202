"""Spark and the pure-Python reference give the same tables for hundreds of random journals, in few jobs."""

from dataclasses import astuple, fields

import pytest

from strandline.core.ids import bucket_of
from support.lakes import counted, write_files
from support.random_journals import corpus
from support.reference import Counts, ReferenceLake

NAMES = [field.name for field in fields(Counts)]


def expected_lines(reference):
    return sorted(
        (name, id_, n, state.lines[id_])
        for name, state in reference.namespaces.items()
        for id_, n in state.n.items()
    )


def stored_lines(lake):
    found = []
    for name, id_, n, number, author, resource in lake.rows(
        "node_journal_line", "namespace", "record_id", "n", "line_number", "author_fp", "resource_id"
    ):
        raw = name.removeprefix("node:") if number is None else f"{number}@{author}/{resource}"
        found.append((name, id_, n, raw.encode()))
    return sorted(found)


def assert_equal(lake, reference):
    assert stored_lines(lake) == expected_lines(reference)
    columns = ("quarantine_id", "namespace", "status", "reasons", "raw", "waits_for", "evidence")
    assert lake.rows("quarantine", *columns) == sorted(map(astuple, reference.quarantine.values()), key=repr)


def assert_reduced_equal(lake, reference):
    journals, states, forks = [], [], []
    for name, state in reference.namespaces.items():
        row, bucket = state.journal, bucket_of(name, 16)
        leaves = tuple((leaf.n, leaf.record_id) for leaf in row.leaves)
        journals.append(
            (name, bucket, row.profile, row.tip_n, row.tip_number, row.tip_line, row.tip_hash, leaves, row.fork_count,
             row.common_n, row.line_count, row.pair_count, row.duplicate_pairs)
        )  # fmt: skip
        states.append((name, bucket, "sdmp", row.record_count, bytes.fromhex(row.state_hash), "sdmp/1", None))
        forks.extend((fork.equivocation_id, name, bucket, *astuple(fork)[2:]) for fork in state.forks)
    assert lake.rows("node_journal") == sorted(journals, key=repr)
    assert lake.rows("namespace_state") == sorted(states, key=repr)
    columns = (
        "equivocation_id", "namespace", "bucket", "dialect", "kind", "key", "position", "members", "member_count",
        "bytes_a", "bytes_b", "attributable", "evidence",
    )  # fmt: skip
    assert lake.rows("equivocation", *columns) == sorted(forks, key=repr)


CASES = [
    pytest.param(7, 250, {}, id="250 journals, whole files"),
    pytest.param(
        8, 12, {"read": {"lines_min_bytes": 1, "split_bytes": 256}}, id="12 journals, splits of 256 bytes"
    ),
]


@pytest.mark.parametrize(("seed", "journals", "changed"), CASES)
def test_spark_and_reference_agree_on_random_journals_over_runs(new_lake, tmp_path, seed, journals, changed):
    lake, reference = new_lake(**changed), ReferenceLake()
    for number, files in enumerate(corpus(seed, journals, runs=2)):
        counts = reference.ingest(files)
        report = lake.ingest(write_files(tmp_path / f"in{number}", files))
        assert counted(report, NAMES) == dict(zip(NAMES, astuple(counts), strict=True))
        assert_equal(lake, reference)
        lake.reduce()
        assert_reduced_equal(lake, reference)

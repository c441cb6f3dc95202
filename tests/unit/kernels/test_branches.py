"""Branches of a forked journal: paths that have every line once."""

import random

import pyarrow as pa
import pytest

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.codec import line_hash, profile_of
from support.random_journals import path_to, tree

COLUMNS = ("namespace", "n", "record_id", "line_number", "line_hash", "line")


def rows_of(lines):
    """The lines of a journal as rows, in the order of n and id."""
    profile = profile_of(lines[0].decode())
    rows = [
        {
            "namespace": f"node:{lines[0].decode()}",
            "n": len(path_to(lines, line)),
            "record_id": line,
            "line_number": line.partition(b"@")[0].decode() if b"@" in line else None,
            "line_hash": line_hash(line, profile),
            "line": line.decode(),
        }
        for line in lines
    ]
    return sorted(rows, key=lambda row: (row["n"], row["record_id"]))


def branched(rows, size):
    table = pa.Table.from_pylist([{name: row[name] for name in COLUMNS} for row in rows])
    return [
        row for batch in kernels.branches(table.to_batches(max_chunksize=size)) for row in batch.to_pylist()
    ]


@pytest.mark.large
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_every_line_is_on_one_branch_and_a_branch_is_a_path(size):
    rng = random.Random(6)
    trees = sorted((tree(rng, number) for number in range(150)), key=lambda lines: lines[0])
    rows = [row for lines in trees for row in rows_of(lines)]
    found = branched(rows, size)
    assert [(row["namespace"], row["line"]) for row in found] == [
        (row["namespace"], row["line"]) for row in rows
    ]
    for lines in trees:
        mine = [row for row in found if row["namespace"] == f"node:{lines[0].decode()}"]
        followed = {line.partition(b"@")[0] for line in lines if b"@" in line}
        profile = profile_of(lines[0].decode())
        leaves = [line for line in lines if line_hash(line, profile).encode() not in followed]
        assert sorted({row["branch"] for row in mine}) == list(range(len(leaves)))
        for branch in range(len(leaves)):
            path = [row["line"].encode() for row in mine if row["branch"] == branch]
            assert path_to(lines, path[-1])[-len(path) :] == path
            assert path[-1] in leaves


def test_a_line_that_thousands_follow_begins_as_many_branches():
    row = {"namespace": "node:a", "record_id": b"", "line": "x"}
    rows = [{**row, "n": 1, "line_number": None, "line_hash": "root"}]
    rows += [{**row, "n": 2, "line_number": "root", "line_hash": str(at)} for at in range(5000)]
    rows += [{**row, "n": 3, "line_number": str(at), "line_hash": f"{at}+"} for at in range(5000)]
    found = branched(rows, 100)
    assert [each["branch"] for each in found] == [0, *range(5000), *range(5000)]

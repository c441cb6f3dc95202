"""Stored lines are reduced to the rows of the reference; what is not a whole journal is left to Spark."""

import random

import pyarrow as pa
import pytest

from strandline.core.ids import bucket_of
from strandline.dialects.sdmp.codec import parse_line, record_id
from strandline.dialects.sdmp.kernels import JOURNAL_SCHEMA, whole_journals
from strandline.dialects.sdmp.reduce import forks, journal, n_of
from strandline.kernels.equivocations import FORK_SCHEMA
from support.random_journals import tree

COLUMNS = (
    "namespace",
    "bucket",
    "record_id",
    "profile",
    "n",
    "line_number",
    "line_hash",
    "author_fp",
    "resource_id",
)


def accepted(number):
    lines = tree(random.Random(number), number)
    profile = "0.9" if len(lines[0]) == 64 else "0.12"
    return lines[0].decode(), {record_id(line): parse_line(line, profile) for line in lines}


def stored(node, lines):
    """The rows of `node_journal_line`."""
    places = n_of(node, lines)
    namespace = f"node:{node}"
    return [
        dict(zip(COLUMNS, (
            namespace, bucket_of(namespace, 16), id_, line.profile, places[id_], line.number, line.hash, line.author,
            line.resource,
        ), strict=True))
        for id_, line in lines.items()
    ]  # fmt: skip


def table(rows):
    kinds = {"bucket": pa.int32(), "n": pa.int64(), "record_id": pa.binary()}
    return pa.Table.from_pylist(
        rows, schema=pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    )


def test_journals_with_and_without_forks_have_the_rows_of_the_reference():
    journals = dict(map(accepted, range(60)))
    rows = [row for node, lines in journals.items() for row in stored(node, lines)]
    random.Random(1).shuffle(rows)
    found, forked = whole_journals(table(rows), None)
    assert (found.schema, forked.schema) == (JOURNAL_SCHEMA, FORK_SCHEMA)
    expected = sorted(
        (journal(node, lines) for node, lines in journals.items()), key=lambda row: row.namespace
    )
    assert any(row.fork_count for row in expected)
    assert {row.profile for row in expected} == {"0.9", "0.12"}
    for row, one in zip(found.to_pylist(), expected, strict=True):
        assert row.pop("bucket") == bucket_of(one.namespace, 16)
        assert row.pop("state_hash").hex() == one.state_hash
        assert [(leaf["n"], leaf["record_id"]) for leaf in row.pop("leaves")] == [
            (leaf.n, leaf.record_id) for leaf in one.leaves
        ]
        assert row == {name: getattr(one, name) for name in row}
    expected_forks = {
        each.equivocation_id: each for node, lines in journals.items() for each in forks(node, lines)
    }
    assert forked.num_rows == len(expected_forks)
    for row in forked.to_pylist():
        one = expected_forks[row["equivocation_id"]]
        assert row.pop("bucket") == bucket_of(one.namespace, 16)
        assert tuple(row.pop("members")) == one.members
        assert row == {name: getattr(one, name) for name in row}


def test_only_forks_with_a_new_successor_are_given():
    node, lines = next(each for each in map(accepted, range(60)) if forks(*each))
    one = forks(node, lines)[0]
    for new, expected in (({one.members[-1]}, {one.equivocation_id}), (set(), set())):
        _, forked = whole_journals(table(stored(node, lines)), new)
        assert set(forked.column("equivocation_id").to_pylist()) == expected


def changed(name, value, at=5):
    return lambda rows: [*rows[:at], {**rows[at], name: value}, *rows[at + 1 :]]


@pytest.mark.parametrize(
    "damage",
    [
        lambda rows: rows[1:],
        lambda rows: [*rows[:5], *rows[6:]],
        lambda rows: [*rows, rows[5]],
        lambda rows: [{**row, "namespace": f"log:{row['namespace'][5:]}"} for row in rows],
        changed("n", 7),
        changed("line_hash", "0" * 64),
        changed("line_number", None),
        changed("author_fp", None),
        changed("resource_id", None),
        changed("n", 1),
        lambda rows: [{**rows[-1], "line_hash": rows[3]["line_hash"]}, *rows[:-1]],
        lambda rows: [{**rows[0], "n": 2}],
    ],
    ids=[
        "no line 1", "gap", "twice", "another kind", "n", "hash", "no number", "no author", "no resource", "n 1",
        "two lines of one hash", "line 1 at n 2",
    ],
)  # fmt: skip
def test_what_is_not_a_whole_journal_is_not_reduced(damage):
    node, lines = next(each for each in map(accepted, range(60)) if len(each[1]) > 9 and not forks(*each))
    rows = sorted(stored(node, lines), key=lambda row: row["n"])
    assert whole_journals(table(rows), None) is not None
    assert whole_journals(table(damage(rows)), None) is None

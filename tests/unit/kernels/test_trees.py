"""Roots folded over sorted batches, of whatever size, are those of the whole tree."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.core.merkle import EMPTY_ROOT
from strandline.kernels import trees
from strandline.kernels.notes import (
    NOTE_SCHEMA,
    REFUSED_SCHEMA,
    refused_notes,
    signed_notes,
    why_refused,
)
from support.laws import law
from support.trees import ids, tree_root

LEAVES = pa.schema(
    {
        "namespace": pa.string(), "chunk": pa.int64(), "position": pa.int64(), "record_id": pa.binary(),
        "old_size": pa.int64(),
    }
)  # fmt: skip
BITS = 2
SEED = b"\x07" * 32


@pytest.fixture(autouse=True, scope="module")
def small_chunks():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trees, "CHUNK_BITS", BITS)
        patched.setattr(trees, "CHUNK_LEAVES", 1 << BITS)
        yield


def batches(rows, schema, size):
    for start in range(0, len(rows), size):
        yield pa.RecordBatch.from_pylist(rows[start : start + size], schema=schema)
        yield pa.RecordBatch.from_pylist([], schema=schema)


def leaves(sizes, old_sizes, but=()):
    return [
        {
            "namespace": name,
            "chunk": at >> BITS,
            "position": at,
            "record_id": each,
            "old_size": old_sizes[name],
        }
        for name, size in sorted(sizes.items())
        for at, each in enumerate(ids(size))
        if (name, at) not in but
    ]


def roots(rows, size):
    """The rows of trees, over batches of so many rows."""
    chunks = [row for batch in trees.chunk_roots(batches(rows, LEAVES, size)) for row in batch.to_pylist()]
    found = trees.tree_roots(batches(chunks, trees.CHUNK_SCHEMA, size))
    return {row["namespace"]: row for batch in found for row in batch.to_pylist()}


@law(100)
@given(
    sizes=st.dictionaries(st.sampled_from(["node:a", "node:b", "log:ü"]), st.integers(1, 40), min_size=1),
    share=st.integers(0, 100),
    size=st.integers(1, 50),
)
def test_both_roots_are_those_of_the_rfc(sizes, share, size):
    old_sizes = {name: each * share // 100 for name, each in sizes.items()}
    found = roots(leaves(sizes, old_sizes), size)
    assert found == {
        name: {
            "namespace": name, "size": each, "root": tree_root(ids(each)),
            "old_root": tree_root(ids(each)[: old_sizes[name]]),
        }
        for name, each in sizes.items()
    }  # fmt: skip


@law(100)
@given(size=st.integers(2, 40), data=st.data(), rows=st.integers(1, 50))
def test_a_tree_that_lacks_a_leaf_has_no_root_or_is_shorter(size, data, rows):
    gone = data.draw(st.integers(0, size - 1))
    old = data.draw(st.integers(0, size))
    found = roots(leaves({"a": size}, {"a": old}, {("a", gone)}), rows)["a"]
    if gone == size - 1:
        assert (found["size"], found["root"]) == (gone, tree_root(ids(gone)))
        assert found["old_root"] != tree_root(ids(old)) or old < size
    else:
        assert (found["root"], found["old_root"]) == (None, None)


@pytest.mark.parametrize("at", [0, 3, 4, 9])
def test_a_repeated_place_has_no_root(at):
    rows = leaves({"a": 10}, {"a": 0})
    rows.insert(at, rows[at])
    assert roots(rows, 3)["a"]["root"] is None


def test_an_old_tree_without_leaves_is_the_empty_one():
    assert roots(leaves({"a": 5}, {"a": 0}), 9)["a"]["old_root"] == EMPTY_ROOT


def test_no_rows_give_no_roots():
    assert roots([], 3) == {}
    assert list(trees.chunk_roots([pa.RecordBatch.from_pylist([], schema=LEAVES)])) == []


SIGNED = pa.schema(
    {
        "namespace": pa.string(), "size": pa.int64(), "root": pa.binary(), "origin": pa.string(),
        "public_key": pa.binary(), "note": pa.string(),
    }
)  # fmt: skip


def signed(names):
    from strandline.core.ed25519 import Ed25519Key

    rows = [
        {"namespace": name, "size": size, "root": tree_root(ids(size))} for size, name in enumerate(names, 1)
    ]
    given = batches(rows, pa.schema([SIGNED.field(name) for name in ("namespace", "size", "root")]), 2)
    made = list(signed_notes(given, origin="demo.example", seed=SEED))
    assert all(batch.schema == NOTE_SCHEMA for batch in made)
    notes = {row["namespace"]: row["note"] for batch in made for row in batch.to_pylist()}
    key = Ed25519Key(SEED).public
    return [
        row | {"origin": "demo.example", "public_key": key, "note": notes[row["namespace"]]} for row in rows
    ]


def refused(rows):
    made = list(refused_notes(batches(rows, SIGNED, 2)))
    assert all(batch.schema == REFUSED_SCHEMA for batch in made)
    return {row["namespace"]: row["refused"] for batch in made for row in batch.to_pylist()}


def test_signed_trees_open_and_changed_ones_are_named_with_the_reason():
    rows = signed(["node:a", "node:b", "log:ü", "node:d", "node:e"])
    assert refused(rows) == {}
    rows[1]["size"] += 1
    rows[2]["root"] = bytes(32)
    rows[3]["note"] = rows[0]["note"]
    rows[4]["public_key"] = bytes(31) + b"\x02"
    assert refused(rows) == {
        "node:b": "it states another tree than its row",
        "log:ü": "it states another tree than its row",
        "node:d": "it is of the log 'demo.example/node:a', not of 'demo.example/node:d'",
        "node:e": "this key did not sign it",
    }
    assert why_refused(*rows[0].values()) is None
    for name in ("origin", "public_key"):
        assert why_refused(*(rows[0] | {name: None}).values()) == "its row has no origin or no key"
    for key in (b"", bytes(31), bytes(33)):
        assert why_refused(*(rows[0] | {"public_key": key}).values()) == "this key did not sign it"


def test_a_namespace_of_another_dialect_is_encoded_in_the_name_of_its_log():
    [row] = signed(["chain:two words\n+ü%20"])
    assert refused([row]) == {}
    assert row["note"].startswith("demo.example/chain:two%20words%0A%2B%C3%BC%20\n1\n")

"""Which records of a batch can go in: those whose parents are accepted, or go in with them."""

import random
from itertools import pairwise

import pyarrow as pa
import pytest

from strandline.kernels.ancestry import CANDIDATE_COLUMNS, MISSING_SCHEMA, missing_parents

SCHEMA = pa.schema({"namespace": pa.string(), "record_id": pa.binary(), "lacking": pa.list_(pa.binary())})


def resolved(candidates, size=2):
    """What the kernel says of (namespace, id, lacking), in batches of so many rows."""
    rows = [dict(zip(CANDIDATE_COLUMNS, each, strict=True)) for each in candidates]
    batches = [pa.RecordBatch.from_pylist(rows[at : at + size], SCHEMA) for at in range(0, len(rows), size)]
    found = list(missing_parents(batches))
    assert all(batch.schema == MISSING_SCHEMA for batch in found)
    return {
        (row["namespace"], row["record_id"]): row["missing"] for batch in found for row in batch.to_pylist()
    }


@pytest.mark.parametrize("size", [1, 2, 9])
def test_a_chain_goes_in_whole_in_any_order_and_waits_whole_behind_what_is_missing(size):
    chain = [("a", b"3", [b"2"]), ("a", b"1", []), ("a", b"2", [b"1"])]
    assert resolved(chain, size) == {("a", b"3"): [], ("a", b"1"): [], ("a", b"2"): []}
    broken = [("a", b"3", [b"2"]), ("a", b"2", [b"1"])]
    assert resolved(broken, size) == {("a", b"3"): [b"2"], ("a", b"2"): [b"1"]}


def test_namespaces_share_nothing_and_of_several_parents_each_missing_one_is_named():
    found = resolved([("a", b"1", []), ("b", b"2", [b"1", b"0"]), ("b", b"3", [])])
    assert found == {("a", b"1"): [], ("b", b"2"): [b"0", b"1"], ("b", b"3"): []}


def test_records_that_name_each_other_wait_and_stop_nobody():
    found = resolved([("a", b"1", [b"2"]), ("a", b"2", [b"1"]), ("a", b"3", [])])
    assert found == {("a", b"1"): [b"2"], ("a", b"2"): [b"1"], ("a", b"3"): []}


def test_random_graphs_are_resolved_as_by_trying_until_nothing_changes():
    draw = random.Random(3)
    for _ in range(200):
        ids = [bytes([at]) for at in range(draw.randrange(1, 12))]
        lacking = {id_: draw.sample([*ids, b"absent"], draw.choice([0, 1, 1, 2])) for id_ in ids}
        admitted: set[bytes] = set()
        while more := {id_ for id_ in ids if id_ not in admitted and set(lacking[id_]) <= admitted}:
            admitted |= more
        rows = [("a", id_, lacking[id_]) for id_ in draw.sample(ids, len(ids))]
        expected = {("a", id_): sorted(set(lacking[id_]) - admitted) for id_ in ids}
        assert resolved(rows, draw.randrange(1, 5)) == expected


@pytest.mark.large
def test_a_chain_of_a_hundred_thousand_is_no_recursion():
    ids = [number.to_bytes(4, "big") for number in range(100_000)]
    rows = [("a", id_, [before]) for before, id_ in pairwise(ids)] + [("a", ids[0], [])]
    assert not any(resolved(rows, 50_000).values())

"""The invariants of one table that tests look for without Spark."""

import pyarrow as pa

from strandline.contracts.checks import GENERATED
from strandline.core.ids import bucket_of
from support.places import BUCKETS
from support.soundness import SEEN_HERE, broken_rows


def found(table, **columns):
    return broken_rows(table, pa.table(columns), BUCKETS)


def test_repeated_keys_and_rows_in_a_wrong_bucket_are_found():
    assert set(SEEN_HERE) < set(GENERATED)
    right = [bucket_of(name, BUCKETS) for name in "ab"]
    assert found("node_journal", namespace=["a", "b"], bucket=right) == []
    assert found("node_journal", namespace=["a", "b", "a"], bucket=[*right, right[0]]) == [
        ("keys_are_unique", ("a",))
    ]
    assert found("node_journal", namespace=["a", "b"], bucket=[right[0], right[1] + 1]) == [
        ("buckets_are_derived", ("b", right[1] + 1, None))
    ]
    assert found("run", run_id=["1", "1"]) == [("keys_are_unique", ("1",))]


def test_a_row_without_a_namespace_lies_where_its_key_says():
    ids = [bytes([0, 7]) + bytes(30), bytes([0, 6]) + bytes(30)]
    rows = {"quarantine_id": ids, "namespace": pa.array([None, None], pa.string())}
    assert found("quarantine", **rows, bucket=[3, 2]) == []
    assert found("quarantine", **rows, bucket=[3, 3]) == [("buckets_are_derived", (None, 3, ids[1]))]

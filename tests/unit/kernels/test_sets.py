"""The set hash folded over sorted batches is that of the whole set."""

import hashlib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.core.hashing import set_hash
from strandline.kernels.digests import run_digests
from strandline.kernels.sets import DIGEST_SCHEMA, bucket_digests, set_digests
from support.laws import law

VALUES = pa.schema([("namespace", pa.string()), ("first", pa.binary()), ("value", pa.binary())])
LARGE_VALUES = pa.schema(
    [("namespace", pa.large_string()), ("first", pa.large_binary()), ("value", pa.large_binary())]
)
"""The same of a session with `spark.sql.execution.arrow.useLargeVarTypes`."""
digests = st.builds(
    lambda first, rest: bytes([first]) + hashlib.sha256(rest).digest()[1:],
    st.integers(0, 5),
    st.binary(max_size=1),
)
sets_by_name = st.dictionaries(
    st.sampled_from(["node:a", "node:b", "node:ü"]), st.sets(digests, min_size=1, max_size=12)
)


def batches_of(rows: list[dict], schema: pa.Schema, size: int) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pylist(rows[at : at + size], schema) for at in range(0, len(rows), size)]


def folded(
    sets: dict[str, set[bytes]], size: int, times: tuple[int, ...] = (1,), values: pa.Schema = VALUES
) -> dict[str, tuple[bytes, int]]:
    rows = [
        {"namespace": name, "first": value[:1], "value": value}
        for name in sorted(sets)
        for at, value in enumerate(sorted(sets[name]))
        for _ in range(times[at % len(times)])
    ]
    parts = [row for batch in bucket_digests(batches_of(rows, values, size)) for row in batch.to_pylist()]
    found = [
        row for batch in set_digests(batches_of(parts, DIGEST_SCHEMA, size)) for row in batch.to_pylist()
    ]
    assert len(found) == len(sets)
    return {row["namespace"]: (row["set_hash"], row["size"]) for row in found}


@pytest.mark.parametrize("values", [VALUES, LARGE_VALUES], ids=["usual", "large"])
@pytest.mark.parametrize("size", [1, 2, 1000])
@given(sets=sets_by_name)
@law(30)
def test_the_fold_is_the_set_hash_for_any_batches(
    size: int, values: pa.Schema, sets: dict[str, set[bytes]]
) -> None:
    assert folded(sets, size, values=values) == {
        name: (set_hash(values), len(values)) for name, values in sets.items()
    }


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@given(sets=sets_by_name, times=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
@law(30)
def test_values_that_repeat_count_once(
    size: int, sets: dict[str, set[bytes]], times: tuple[int, ...]
) -> None:
    assert folded(sets, size, times) == {
        name: (set_hash(values), len(values)) for name, values in sets.items()
    }


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_values_that_repeat_count_each_time_unless_only_distinct_ones_do(size: int) -> None:
    rows = [
        {"namespace": name, "first": b"", "value": value}
        for name in ("a", "b")
        for value in (b"x", b"x", b"y")
    ]
    found = [
        row
        for batch in run_digests(batches_of(rows, VALUES, size), ("namespace",))
        for row in batch.to_pylist()
    ]
    digest = hashlib.sha256(b"xxy").digest()
    assert found == [{"namespace": name, "digest": digest, "size": 3} for name in ("a", "b")]


def test_batches_that_are_parts_of_others_and_empty_ones_are_read() -> None:
    values = sorted({hashlib.sha256(b"%d" % k).digest() for k in range(50)})
    rows = [{"namespace": "node:a", "first": value[:1], "value": value} for value in values]
    whole = pa.RecordBatch.from_pylist([{"namespace": "", "first": b"", "value": b""}, *rows], VALUES)
    parts = [whole.slice(1, 20), whole.slice(0, 0), whole.slice(21)]
    found = [row for batch in bucket_digests(parts) for row in batch.to_pylist()]
    [row] = [row for batch in set_digests(batches_of(found, DIGEST_SCHEMA, 9)) for row in batch.to_pylist()]
    assert row == {"namespace": "node:a", "set_hash": set_hash(values), "size": 50}


def test_a_set_over_all_first_bytes_is_hashed_whole() -> None:
    values = {hashlib.sha256(b"%d" % k).digest() for k in range(2000)}
    assert folded({"node:a": values}, 300) == {"node:a": (set_hash(values), 2000)}

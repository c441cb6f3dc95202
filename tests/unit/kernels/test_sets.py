"""The set hash folded over sorted batches is that of the whole set."""

import hashlib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.core.hashing import set_hash
from strandline.kernels.sets import DIGEST_SCHEMA, bucket_digests, set_digests
from support.laws import law

VALUES = pa.schema([("namespace", pa.string()), ("first", pa.binary()), ("value", pa.binary())])
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


def folded(sets: dict[str, set[bytes]], size: int) -> dict[str, tuple[bytes, int]]:
    rows = [
        {"namespace": name, "first": value[:1], "value": value}
        for name in sorted(sets)
        for value in sorted(sets[name])
    ]
    parts = [row for batch in bucket_digests(batches_of(rows, VALUES, size)) for row in batch.to_pylist()]
    found = [
        row for batch in set_digests(batches_of(parts, DIGEST_SCHEMA, size)) for row in batch.to_pylist()
    ]
    assert len(found) == len(sets)
    return {row["namespace"]: (row["set_hash"], row["size"]) for row in found}


@pytest.mark.parametrize("size", [1, 2, 1000])
@given(sets=sets_by_name)
@law(30)
def test_the_fold_is_the_set_hash_for_any_batches(size: int, sets: dict[str, set[bytes]]) -> None:
    assert folded(sets, size) == {name: (set_hash(values), len(values)) for name, values in sets.items()}


def test_a_set_over_all_first_bytes_is_hashed_whole() -> None:
    values = {hashlib.sha256(b"%d" % k).digest() for k in range(2000)}
    assert folded({"node:a": values}, 300) == {"node:a": (set_hash(values), 2000)}

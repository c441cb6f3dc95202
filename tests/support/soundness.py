"""Invariants of one table that its rows show as Arrow has them: Spark would plan a part of a query for each."""

from collections import Counter

from strandline.contracts.load import contract
from strandline.core.ids import bucket_of, bucket_of_digest

SEEN_HERE = ("keys_are_unique", "buckets_are_derived")
"""The checks of `strandline check` that find the same rows."""


def broken_rows(table, rows, buckets):
    """The repeated keys of a table, and its rows in a wrong bucket, each with the name of its check."""
    described = contract(table)
    keys = list(zip(*(rows[name].to_pylist() for name in described.key), strict=True))
    found = [("keys_are_unique", key) for key, count in Counter(keys).items() if count > 1]
    if described.is_bucketed:
        places = zip(rows["namespace"].to_pylist(), rows["bucket"].to_pylist(), keys, strict=True)
        # Without a namespace a row lies where its key says.
        asked = {(name, bucket, None if name is not None else key[0]) for name, bucket, key in places}
        found += [
            ("buckets_are_derived", (name, bucket, id_))
            for name, bucket, id_ in asked
            if bucket != (bucket_of_digest(id_, buckets) if name is None else bucket_of(name, buckets))
        ]
    return found

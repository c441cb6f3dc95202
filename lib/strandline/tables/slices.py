"""Divides tables into slices of namespaces that fit into memory."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from strandline.contracts.bucket_ranges import MOST_LISTED, in_buckets

ROWS_OF_A_SLICE = 100_000
"""Maximum number of rows that are joined and sorted in memory at once: some 100 MB."""
MOST_SLICES = 200
"""Number of full slices of a large lake. It has at most twice as many slices: each is an open file during the merge."""
_DIGESTS = 16**4
"""Number of prefixes of four digits of a digest."""


def slices_of(row_counts: Mapping[int, int]) -> list[str | None]:
    """Return conditions that divide rows, counted by bucket, into slices; [None] if one slice is enough.

    Small buckets share a slice; a bucket larger than a slice is divided by a digest of the namespace
    into as many parts as it fills slices.
    """
    most = max(ROWS_OF_A_SLICE, sum(row_counts.values()) // MOST_SLICES)
    if sum(row_counts.values()) <= most:
        return [None]
    large = [bucket for bucket, rows in row_counts.items() if rows > most]
    found: list[str | None] = []
    together: list[int] = []
    rows_together = 0
    for bucket, rows in sorted(row_counts.items()):
        if rows > most:
            found += _parts_of(bucket, -(-rows // most))
            continue
        if rows_together + rows > most:
            found.append(_of_buckets(together, large))
            together, rows_together = [], 0
        together.append(bucket)
        rows_together += rows
    return [*found, _of_buckets(together, large)] if together else found


def _of_buckets(listed: Sequence[int], large: Sequence[int]) -> str:
    """Return the condition of a slice; other buckets between its first and its last one are large, or without rows."""
    if len(listed) <= MOST_LISTED:
        return in_buckets("bucket", listed)
    # delta-rs crashes over a list of 30,000 buckets.
    between = f"bucket BETWEEN {listed[0]} AND {listed[-1]}"
    others = [bucket for bucket in large if listed[0] < bucket < listed[-1]]
    return f"{between} AND NOT {in_buckets('bucket', others)}" if others else between


def _parts_of(bucket: int, parts: int) -> list[str]:
    firsts = [at * _DIGESTS // parts for at in range(parts + 1)]
    return [
        f"bucket = {bucket} AND substr(md5(namespace), 1, 4) BETWEEN '{first:04x}' AND '{after - 1:04x}'"
        for first, after in pairwise(firsts)
    ]

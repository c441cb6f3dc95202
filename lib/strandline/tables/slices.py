"""Divides tables into slices of namespaces that fit into memory."""

from collections.abc import Mapping, Sequence

ROWS_OF_A_SLICE = 100_000
"""Maximum number of rows that are joined and sorted in memory at once: some 100 MB."""
MOST_SLICES = 200
"""Maximum number of slices: each is an open file during the merge."""


def slices_of(row_counts: Mapping[int, int]) -> list[str | None]:
    """Return conditions that divide rows, counted by bucket, into slices; [None] if one slice is enough.

    Small buckets share a slice; a bucket larger than a slice is divided by a digest of the namespace.
    """
    most = max(ROWS_OF_A_SLICE, sum(row_counts.values()) // MOST_SLICES)
    if sum(row_counts.values()) <= most:
        return [None]
    found: list[str | None] = []
    together: list[int] = []
    for bucket, rows in sorted(row_counts.items()):
        if rows > most:
            digits = 1 if rows <= 16 * most else 2
            found += [
                f"bucket = {bucket} AND substr(md5(namespace), 1, {digits}) = '{part:0{digits}x}'"
                for part in range(16**digits)
            ]
            continue
        if sum(row_counts[each] for each in together) + rows > most:
            found.append(_in_buckets(together))
            together = []
        together.append(bucket)
    return [*found, _in_buckets(together)] if together else found


def _in_buckets(buckets: Sequence[int]) -> str:
    return f"bucket IN ({', '.join(map(str, buckets))})"

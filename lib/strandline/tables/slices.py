"""Tables cut into parts of their namespaces, so that one part at a time fits into memory."""

from collections.abc import Mapping, Sequence

ROWS_OF_A_SLICE = 100_000
"""Rows of tables that are joined and sorted in memory at once: some 100 MB."""
MOST_SLICES = 200
"""Parts of one table, each a file while they are merged."""


def slices_of(held: Mapping[int, int]) -> list[str | None]:
    """Return conditions that cut so many rows by bucket into parts; None alone where all are one part.

    Buckets are put together; one with more rows than a part is cut by a digest of the namespace.
    """
    most = max(ROWS_OF_A_SLICE, sum(held.values()) // MOST_SLICES)
    if sum(held.values()) <= most:
        return [None]
    found: list[str | None] = []
    together: list[int] = []
    for bucket, rows in sorted(held.items()):
        if rows > most:
            digits = 1 if rows <= 16 * most else 2
            found += [
                f"bucket = {bucket} AND substr(md5(namespace), 1, {digits}) = '{part:0{digits}x}'"
                for part in range(16**digits)
            ]
            continue
        if sum(held[each] for each in together) + rows > most:
            found.append(_in_buckets(together))
            together = []
        together.append(bucket)
    return [*found, _in_buckets(together)] if together else found


def _in_buckets(buckets: Sequence[int]) -> str:
    return f"bucket IN ({', '.join(map(str, buckets))})"

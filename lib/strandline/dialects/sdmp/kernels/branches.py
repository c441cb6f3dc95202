"""The branch of each line of a forked journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

BRANCH_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("n", pa.int64()),
        pa.field("line_number", pa.string()),
        pa.field("line", pa.string()),
        pa.field("branch", pa.int64()),
    ]
)


def branches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the lines of journals, each with its branch: a path in the tree of lines.

    Reads: namespace, n, line_number (null: line 1), line_hash, line; whole journals, sorted by namespace and n.
    Gives: BRANCH_SCHEMA, one row per row. The first successor of a line continues the branch of the line, each other
            one starts a branch. Branches are numbered from 0 in the order of their first lines.
    Memory: the hashes of two generations.
    """
    here: str | None = None
    at, count = 0, 0
    ends: dict[str, int] = {}
    growing: dict[str, int] = {}
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("namespace", "n", "line_number", "line_hash"))
        found = []
        for namespace, n, number, line_hash in zip(*columns, strict=True):
            if namespace != here:
                here, at, count, ends, growing = namespace, n, 0, {}, {}
            elif n != at:
                at, ends, growing = n, growing, {}
            branch = ends.pop(number, None)
            if branch is None:
                branch, count = count, count + 1
            growing[line_hash] = branch
            found.append(branch)
        columns_kept = [batch.column(name) for name in BRANCH_SCHEMA.names[:-1]]
        yield pa.RecordBatch.from_arrays([*columns_kept, pa.array(found, pa.int64())], schema=BRANCH_SCHEMA)

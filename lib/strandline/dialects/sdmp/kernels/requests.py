"""Request files of peers to rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.core.safe_files import open_file
from strandline.core.verdict import shown
from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.author import MAX_ANSWER_LINES
from strandline.dialects.sdmp.types import MalformedRequest, ResourceRequest

REQUEST_SCHEMA: Final = pa.schema(
    [
        pa.field("request_no", pa.int64(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("to", pa.string()),
        pa.field("since", pa.string()),
        pa.field("most", pa.int64(), nullable=False),
    ]
)
"""`outcome`: asked (for lines of a local node), refused (of another node), resources, malformed. `most`: the maximum
number of lines to return. `to` of a refused request is cut as in evidence.
"""

_BATCH_ROWS: Final = 10_000


def requests(batches: Iterable[pa.RecordBatch], local_nodes: Collection[str]) -> Iterator[pa.RecordBatch]:
    """Yield the requests of files, one row each, numbered in file order; the task opens the path.

    Reads: path.  Gives: REQUEST_SCHEMA.
    """
    for batch in batches:
        for path in batch.column("path").to_pylist():
            with open_file(path) as stream:
                rows: list[tuple[int, str, str | None, str | None, int]] = []
                for number, request in codec.read_requests(stream):
                    rows.append((number, *_row(request, local_nodes)))
                    if len(rows) == _BATCH_ROWS:
                        yield _batch(rows)
                        rows = []
                yield _batch(rows)


def _row(
    request: codec.Request | MalformedRequest, local_nodes: Collection[str]
) -> tuple[str, str | None, str | None, int]:
    if isinstance(request, MalformedRequest):
        return "malformed", None, None, 0
    if isinstance(request, ResourceRequest):
        return "resources", None, None, 0
    if request.to not in local_nodes:
        return "refused", shown(request.to).encode("utf-8", "replace").decode("utf-8"), None, 0
    since = request.since.encode("utf-8", "replace").decode("utf-8")
    return "asked", request.to, since, min(request.limit, MAX_ANSWER_LINES)


def _batch(rows: list[tuple[int, str, str | None, str | None, int]]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * len(REQUEST_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, REQUEST_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=REQUEST_SCHEMA)

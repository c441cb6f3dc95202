"""Parts of logs as table functions: rows of `ipfs_log_dag` in, ids in the requested order out, log by log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pyarrow as pa

from strandline.core.errors import UsageError
from strandline.dialects.ipfslog.reduce import Dag, Node, iterate, traverse

PART_DDL: Final = "namespace STRING, step INT, record_id STRING, cid STRING"
_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("step", pa.int32()),
        pa.field("record_id", pa.string()),
        pa.field("cid", pa.string()),
    ]
)
NODE_COLUMNS: Final = (
    "namespace", "record_id", "cid", "variant", "clock_time", "clock_id", "position", "next",
)  # fmt: skip
"""The columns of `ipfs_log_dag` that are read."""

Read = Callable[[Dag], list[bytes]]


def part(log: pa.Table, read: Read) -> pa.Table:
    """Return the ids that `read` selects from a log, with their places in its result.

    Reads: NODE_COLUMNS of one whole log, in any order.
    Gives: PART_DDL, `step` from 1. The ids of pruned entries are included.

    Raises:
        UnknownEntry: a content address names no entry of the log.
        UsageError: `LOG_NOT_WHOLE`, the rows are of several logs, or some are missing; `BOUNDS_CONFLICT`.
    """
    columns = log.select(NODE_COLUMNS).to_pydict()
    size = log.num_rows
    if len(set(columns["namespace"])) > 1 or max(columns["position"], default=0) != size:
        raise UsageError(
            "LOG_NOT_WHOLE",
            f"The {size:,} rows given are not one whole log.",
            "Give all rows of ipfs_log_dag of each log, and PARTITION BY (namespace).",
        )
    dag = Dag(map(_node, *(columns[name] for name in NODE_COLUMNS)))
    found = read(dag)
    return pa.table(
        [
            [columns["namespace"][0]] * len(found) if found else [],
            range(1, len(found) + 1),
            [record_id.hex() for record_id in found],
            [dag.nodes[record_id].cid for record_id in found],
        ],
        schema=_SCHEMA,
    )


def _node(
    _namespace: str, record_id: str, cid: str, variant: Any, time: int, clock: str, _position: int, next_: list[str]
) -> Node:  # fmt: skip
    return Node(bytes.fromhex(record_id), time, clock, tuple(map(bytes.fromhex, next_)), cid, variant)


class _Part:
    """Collects the rows of one log and reads them when all are there; Spark creates one object per log."""

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._read: Read | None = None

    def _take(self, dag: pa.RecordBatch, read: Read) -> None:
        self._batches.append(dag.select(NODE_COLUMNS))
        self._read = read

    def terminate(self) -> Iterator[pa.Table]:
        """Yield the requested part of the log."""
        if self._read is not None:
            yield part(pa.Table.from_batches(self._batches), self._read)


class Traverse(_Part):
    """`ipfs_log_traverse(TABLE(..) PARTITION BY (namespace), roots, amount, end)`: as `reduce.traverse`."""

    def eval(
        self,
        dag: pa.RecordBatch,
        roots: pa.Array | None = None,
        amount: pa.Array | None = None,
        end: pa.Array | None = None,
    ) -> None:
        """Take rows of a log; `roots` are content addresses, separated by commas."""
        arguments = (_several(roots), _value(amount), _value(end))
        self._take(dag, lambda log: traverse(log, *arguments))


class Iterate(_Part):
    """`ipfs_log_iterate(TABLE(..) PARTITION BY (namespace), gt, gte, lt, lte, amount)`: as `reduce.iterate`."""

    def eval(
        self,
        dag: pa.RecordBatch,
        gt: pa.Array | None = None,
        gte: pa.Array | None = None,
        lt: pa.Array | None = None,
        lte: pa.Array | None = None,
        amount: pa.Array | None = None,
    ) -> None:
        """Take rows of a log; `lt` and `lte` are content addresses, separated by commas."""
        bounds = {"gt": _value(gt), "gte": _value(gte), "lt": _several(lt), "lte": _several(lte)}
        limit = _value(amount)
        self._take(dag, lambda log: iterate(log, **bounds, amount=-1 if limit is None else limit))


def _value(argument: pa.Array | None) -> Any:
    """Return the value of an argument, which is repeated in each row; None for null and for a missing argument."""
    return None if argument is None else argument[0].as_py()


def _several(argument: pa.Array | None) -> list[str] | None:
    text = _value(argument)
    return None if text is None else [each.strip() for each in text.split(",")]

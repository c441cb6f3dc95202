"""Whole journals to their rows and forks, by the plain functions of `reduce`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from strandline.core.ids import namespace as namespace_of
from strandline.dialects.sdmp.reduce import Equivocation, NodeJournal, forks_of, journal_of
from strandline.dialects.sdmp.types import Line
from strandline.dialects.sdmp.verify import Link, Tree, tree_of_links
from strandline.kernels.equivocations import FORK_SCHEMA

JOURNAL_SCHEMA: Final = pa.schema(
    {
        "namespace": pa.string(), "bucket": pa.int32(), "profile": pa.string(), "tip_n": pa.int64(),
        "tip_number": pa.string(), "tip_line": pa.string(), "tip_hash": pa.string(),
        "leaves": pa.list_(pa.struct({"n": pa.int64(), "record_id": pa.binary()})), "fork_count": pa.int64(),
        "common_n": pa.int64(), "line_count": pa.int64(), "pair_count": pa.int64(), "duplicate_pairs": pa.int64(),
        "state_hash": pa.binary(),
    }
)  # fmt: skip
"""The columns of `node_journal`, and the state hash."""

LINE_COLUMNS: Final = (
    "namespace", "bucket", "record_id", "profile", "n", "line_number", "line_hash", "author_fp", "resource_id",
)  # fmt: skip


def whole_journals(lines: pa.Table, new: Container[bytes] | None) -> tuple[pa.Table, pa.Table] | None:
    """Return the journals of these lines as JOURNAL_SCHEMA and their forks as FORK_SCHEMA.

    Reads: all lines of each journal, LINE_COLUMNS. `new` has the record ids of new lines:
            without one among the successors of a line, its fork is left out. None: all forks.
    Gives: None if a journal is not whole, or a line is not one of its journal.
    """
    journals: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    for namespace, (bucket, rows) in _by_namespace(lines).items():
        node = namespace.rpartition(":")[2]
        tree = _tree(node, rows)
        if tree is None or namespace != namespace_of("node", node):
            return None
        journals.append(_journal_row(journal_of(node, tree), bucket))
        found.extend(_fork_row(each, bucket) for each in forks_of(node, tree, new))
    return (
        pa.Table.from_pylist(journals, schema=JOURNAL_SCHEMA),
        pa.Table.from_pylist(found, schema=FORK_SCHEMA),
    )


def _by_namespace(lines: pa.Table) -> Mapping[str, tuple[int, list[tuple[Any, ...]]]]:
    """Return the bucket and the rows of each namespace, by namespace."""
    found: dict[str, tuple[int, list[tuple[Any, ...]]]] = {}
    for namespace, bucket, *row in _rows(lines):
        found.setdefault(namespace, (bucket, []))[1].append(tuple(row))
    return dict(sorted(found.items()))


def _rows(lines: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(lines.column(name).to_pylist() for name in LINE_COLUMNS), strict=True)


def _tree(node: str, rows: list[tuple[Any, ...]]) -> Tree | None:
    """Return the tree of the lines of one journal, or None if they are not such."""
    linked: dict[bytes, tuple[Link, int]] = {}
    for record_id, profile, n, number, line_hash, author, resource in rows:
        if number is None:
            raw = node
        elif author is None or resource is None:
            return None
        else:
            raw = f"{number}@{author}/{resource}"
        line = Line(profile, raw.encode(), number, author, resource)
        linked[record_id] = Link(line, record_id, line_hash), n
    return tree_of_links(linked) if len(linked) == len(rows) else None


def _journal_row(row: NodeJournal, bucket: int) -> dict[str, Any]:
    leaves = [{"n": leaf.n, "record_id": leaf.record_id} for leaf in row.leaves]
    copied = {name: getattr(row, name) for name in JOURNAL_SCHEMA.names if name not in ("bucket", "leaves")}
    return {**copied, "bucket": bucket, "leaves": leaves, "state_hash": bytes.fromhex(row.state_hash)}


def _fork_row(row: Equivocation, bucket: int) -> dict[str, Any]:
    return {"bucket": bucket, **{name: getattr(row, name) for name in FORK_SCHEMA.names if name != "bucket"}}

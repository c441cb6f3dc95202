"""Reduction of few node journals with few lines: all lines of each, in the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import EQUIVOCATIONS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import InMemory, ReduceScope, Reduction
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.reduce import REDUCER_VERSION
from strandline.dialects.sdmp.spark.journal_rows import as_equivocation_rows
from strandline.dialects.sdmp.spark.tables import JOURNALS, LINES, as_rows, of_few
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.listed import MOST_PUSHED
from strandline.frames.namespaces import only_namespaces
from strandline.frames.states import as_namespace_state

FEW_LINES: Final = 20_000
"""Lines of all journals of a run: up to so many, the joins cost more than the plain functions."""


def from_few(tables: Tables, jobs: Jobs, scope: ReduceScope, *, of_changes: bool) -> Reduction | None:
    """Reduce journals from all of their lines, by the plain functions: those with new lines, or all.

    None if there are too many lines, or if they are not whole journals: the joins reduce damaged tables, too.
    """
    new: frozenset[bytes] | None = None
    names: Sequence[str] | None = None
    if of_changes and scope.previous_version is not None:
        changes = tables.few_changes(LINES, scope.previous_version + 1, scope.version)
        if changes is None or changes.num_rows > FEW_LINES:
            return None
        new = frozenset(changes.column("record_id").to_pylist())
        names = sorted(pc.unique(changes.column("namespace")).to_pylist())
    lines = _lines(names, tables, jobs, scope)
    reduced = None if lines is None else kernels.whole_journals(lines, new)
    return None if reduced is None else _reduction(*reduced, tables, scope)


def _lines(names: Sequence[str] | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> pa.Table | None:
    """Return all lines of these journals, or of all (None), or None if they are too many.

    Of a large table a query asks for journals by name, if the stored counts say that they have few lines.
    """
    few = tables.few_rows(LINES, scope.version)
    if few is not None:
        lines = few if names is None else of_few(few, names)
        return lines if lines.num_rows <= FEW_LINES else None
    if names is None or len(names) > MOST_PUSHED:
        return None
    counts = only_namespaces(tables.read(JOURNALS), names, tables.buckets).select("line_count")
    stored = jobs.few(counts, MOST_PUSHED)
    if stored is None or sum(row["line_count"] for row in stored) > FEW_LINES:
        return None
    rows = jobs.few(
        only_namespaces(tables.read_version(LINES, scope.version), names, tables.buckets).select(
            *kernels.LINE_COLUMNS
        ),
        FEW_LINES,
    )
    return None if rows is None else pa.Table.from_pylist([row.asDict() for row in rows], schema=_LINE_SCHEMA)


_LINE_SCHEMA: Final = pa.schema(
    {
        "namespace": pa.string(), "bucket": pa.int32(), "record_id": pa.binary(), "profile": pa.string(),
        "n": pa.int64(), "line_number": pa.string(), "line_hash": pa.string(), "author_fp": pa.string(),
        "resource_id": pa.string(),
    }
)  # fmt: skip
"""The columns of LINE_COLUMNS."""


def _reduction(journals: pa.Table, forks: pa.Table, tables: Tables, scope: ReduceScope) -> Reduction:
    rows = as_rows(tables, journals)
    reduced = {JOURNALS: rows.drop("state_hash")}
    if forks.num_rows:
        reduced[EQUIVOCATIONS] = as_equivocation_rows(as_rows(tables, forks))
    states = rows.select(
        "namespace", "bucket", F.col("line_count").alias("record_count"), "state_hash",
        F.lit(REDUCER_VERSION).alias("reducer_version"),
    )  # fmt: skip
    shaped = as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)
    buckets = tuple(sorted(pc.unique(journals.column("bucket")).to_pylist()))
    return Reduction(reduced, shaped, in_memory=InMemory(journals.num_rows, buckets))

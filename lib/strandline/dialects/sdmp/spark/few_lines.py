"""Reduction of node journals in a small table: all lines of each touched journal, in the driver."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Tables
from strandline.dialect_api.reduction import InMemory, ReduceScope, Reduction
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.reduce import REDUCER_VERSION
from strandline.dialects.sdmp.spark.journal_rows import as_equivocation_rows
from strandline.dialects.sdmp.spark.local_nodes import as_rows
from strandline.dialects.sdmp.spark.positions import LINES
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.states import as_namespace_state

FEW_LINES: Final = 20_000
"""Lines of all journals of a run: up to so many, the joins cost more than the plain functions."""


def from_few(tables: Tables, scope: ReduceScope, *, of_changes: bool) -> Reduction | None:
    """Reduce journals from all of their lines, by the plain functions: those with new lines, or all.

    None if there are too many lines, or if they are not whole journals: the joins reduce damaged tables, too.
    """
    lines = tables.few_rows(LINES, scope.version)
    if lines is None or lines.num_rows > FEW_LINES:
        return None
    new: frozenset[bytes] | None = None
    if of_changes and scope.previous_version is not None:
        news = tables.few_changes(LINES, scope.previous_version + 1, scope.version)
        if news is None:
            return None
        new = frozenset(news.column("record_id").to_pylist())
        lines = lines.filter(pc.is_in(lines.column("namespace"), pc.unique(news.column("namespace"))))
    reduced = kernels.whole_journals(lines, new)
    return None if reduced is None else _reduction(*reduced, tables, scope)


def _reduction(journals: pa.Table, forks: pa.Table, tables: Tables, scope: ReduceScope) -> Reduction:
    rows = as_rows(tables, journals)
    reduced = {"node_journal": rows.drop("state_hash")}
    if forks.num_rows:
        reduced["equivocation"] = as_equivocation_rows(as_rows(tables, forks))
    states = rows.select(
        "namespace", "bucket", F.col("line_count").alias("record_count"), "state_hash",
        F.lit(REDUCER_VERSION).alias("reducer_version"),
    )  # fmt: skip
    shaped = as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)
    buckets = tuple(sorted(pc.unique(journals.column("bucket")).to_pylist()))
    return Reduction(reduced, shaped, in_memory=InMemory(journals.num_rows, buckets))

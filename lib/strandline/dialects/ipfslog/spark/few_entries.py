"""Reduction of logs that have few entries together: all entries of each log, in one kernel.

A relational plan of many joins takes seconds however few its rows are.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.reduce import ORDER_BLOCK
from strandline.dialects.ipfslog.spark import states
from strandline.dialects.ipfslog.spark.logs import Present
from strandline.dialects.ipfslog.spark.reduced_rows import ReducedRows, stored_strays
from strandline.dialects.ipfslog.spark.retained import NODE_COLUMNS, RetainedEntries
from strandline.dialects.ipfslog.spark.tables import DOCUMENTS, ENTRIES, HEADS, TAILS, VIEW
from strandline.frames.lift import map_batches, nested_rows

FEW_ENTRIES: Final = 20_000
"""Entries of all logs of a run, the stored ones included: up to so many, their joins cost more than this kernel."""
FEW_BYTES: Final = 32 * 1024 * 1024
"""Bytes of their links and texts: one task holds them in memory some times over."""
_ITEM_BYTES: Final = 40
"""Bytes of a link, and of an effect besides its texts: both may be many in one entry."""
_IN_ARROW: Final = 4
"""At most so many times the bytes of an entry in Arrow are counted here: an effect without texts has 12 there."""
_COLUMNS: Final = (*NODE_COLUMNS, "ops")
_SIZES: Final = (
    "octet_length(clock_id)",
    "octet_length(writer)",
    f"{_ITEM_BYTES} * array_size(next)",
    f"aggregate(ops, 0L, (n, op) -> n + {_ITEM_BYTES} + octet_length(concat_ws('', op.op_key, op.value_json)))",
)
"""The parts of a node that have no bound of their own, each null where a skeleton lacks it."""


def are_few(
    retained: RetainedEntries, configured: DataFrame, entries: int, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> bool:  # fmt: skip
    """Return whether logs are reduced here: they have few entries and bytes, and none is over the limit of a walk.

    `configured` are the logs, `entries` is the number of their entries together.
    """
    if entries > min(FEW_ENTRIES, scope.walk_entries):
        return False
    stored = tables.few_rows(ENTRIES, scope.version)
    if stored is not None and retained.pruned is None and _IN_ARROW * stored.nbytes <= FEW_BYTES:
        return True
    sizes = retained.nodes(configured, _COLUMNS).agg(*(F.sum(F.expr(size)) for size in _SIZES))
    return sum(size or 0 for size in jobs.row(sizes)) <= FEW_BYTES


def from_few(
    retained: RetainedEntries, configured: DataFrame, present: Present, tables: Tables, jobs: Jobs
) -> ReducedRows:
    """Reduce logs from all of their entries.

    Reads:  configured: as in `full_reduction.from_all`; present: of these logs.
    """
    nodes = retained.nodes(configured, _COLUMNS)
    collected = nodes.groupBy("namespace").agg(F.collect_list(F.struct(*kernels.LOG_NODE)).alias("nodes"))
    whole = configured.select("namespace", "bucket", "store").join(collected, "namespace", "left")
    reduced = map_batches(
        whole.select(*kernels.LOG_COLUMNS), kernels.whole_logs, kernels.LOG_SCHEMA, order_block=ORDER_BLOCK
    )
    reduced = jobs.checkpoint(reduced, "whole logs")
    columns = {HEADS: "heads", TAILS: "tails", VIEW: "view", DOCUMENTS: "documents"}
    rows = {table: nested_rows(reduced, column) for table, column in columns.items()}
    hashes = retained.hint(reduced.select("namespace", "state_hash", "order_blocks", "document_groups"))
    strays = stored_strays(rows, configured, tables, retained.hint) if present.stored else {}
    return ReducedRows(rows, strays, states.with_state_hashes(configured, hashes))

"""New operations of authorities after the stored state, authority by authority: the cost follows the new operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from strandline.core.errors import FaultError
from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.kernels.judgement import authority_of
from strandline.dialects.aura.kernels.reduced_rows import REDUCED_SCHEMA, reduced_row
from strandline.dialects.aura.kernels.stored import DERIVED, stored_operation
from strandline.dialects.aura.reduce import parse_state, reduce_columns
from strandline.dialects.aura.types import Namespace

COUNTS: Final = ("applied_count", "superseded_count", "orphaned_count", "fork_count")
"""Columns of a stored state to which those of new operations are added."""

CONTINUED_COLUMNS: Final = ("namespace", "bucket", "fact_cbor", *DERIVED, "state_cbor", *COUNTS)


def continued(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the new state of each authority, all leaves, and the rows of new operations.

    Reads: CONTINUED_COLUMNS, the rows of a namespace together: the stored state, the only row with `state_cbor`, and
            the new operations.
    Gives: REDUCED_SCHEMA, one row per namespace whose new operations all descend from the stored state; `operations`
            and `forks` are those of new ones. No row for others: they are reduced from all of their operations.
    """
    rows = (row for namespace, group in by_namespace(batches) if (row := _of_group(namespace, list(group))))
    return in_batches(rows, REDUCED_SCHEMA, 1)


def _of_group(namespace: str, group: list[dict[str, Any]]) -> dict[str, Any] | None:
    stored = [row for row in group if row["state_cbor"] is not None]
    if len(stored) != 1:
        return None
    try:
        base = parse_state(stored[0]["state_cbor"])
    except FaultError:
        return None
    ops = [stored_operation(row) for row in group if row["state_cbor"] is None]
    if any(op.new_commitment == base.commitment for op in ops):
        return None  # A copy of the operation at the tip, which has a row.
    found = reduce_columns(Namespace("authority", authority_of(namespace)), ops, base)
    if found is None or found.chain.count("unreachable"):
        return None
    row = reduced_row(stored[0]["bucket"], found, ops, is_damaged=False)
    return row | {name: row[name] + stored[0][name] for name in COUNTS}

"""Evidence of forks of contexts, in batches: the hash inputs of states, and rows of `equivocation`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final

import pyarrow as pa

from strandline.core.equivocation import Context, equivocation
from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.kernels.stored import DERIVED, REMAINS, split_remains, stored_operation
from strandline.dialects.aura.reduce.contexts.forks import COMMIT_FORK
from strandline.dialects.aura.reduce.contexts.forks import state_inputs as inputs_of
from strandline.dialects.aura.types import DIALECT
from strandline.kernels.equivocations import EQUIVOCATION_SCHEMA

STATE_INPUT_COLUMNS: Final = ("namespace", "fact_cbor", *DERIVED, *REMAINS)
STATE_INPUT_SCHEMA: Final = pa.schema(
    {"authority": pa.string(), "commitment": pa.binary(), "input": pa.binary()}
)
FORK_COLUMNS: Final = (
    "namespace", "bucket", "kind", "key", "position", "members", "member_count", "id_a", "bytes_a", "id_b", "bytes_b",
    "states",
)  # fmt: skip
_BATCH: Final = 16


def state_inputs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the hash input of the commitment of each state of each authority.

    Reads: STATE_INPUT_COLUMNS of all accepted operations and the remains of pruned ones, the rows of a namespace
            together.
    Gives: STATE_INPUT_SCHEMA, one row per state that follows from the stored operations and the carry. Memory: the
            operations of one authority.
    """
    rows = (
        {"authority": namespace.removeprefix("authority:"), "commitment": commitment, "input": data}
        for namespace, group in by_namespace(batches)
        for commitment, data in _inputs(group).items()
    )
    return in_batches(rows, STATE_INPUT_SCHEMA, 1024)


def _inputs(group: Iterable[dict[str, Any]]) -> dict[bytes, bytes]:
    rows, remains = split_remains(group)
    return inputs_of(map(stored_operation, rows), remains.state)


def fork_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield contradictions as rows of `equivocation`.  Gives: EQUIVOCATION_SCHEMA, one row per FORK_COLUMNS."""
    rows = (_fork(row) for batch in batches for row in batch.to_pylist())
    return in_batches(rows, EQUIVOCATION_SCHEMA, _BATCH)


def _fork(row: dict[str, Any]) -> dict[str, Any]:
    stated = sorted({(each["commitment"], each["input"]) for each in row["states"] or ()})
    found = equivocation(
        row["namespace"], DIALECT, row["kind"], row["key"], row["position"],
        records={row["id_a"]: row["bytes_a"], row["id_b"]: row["bytes_b"]}, attributable=row["kind"] != COMMIT_FORK,
        context=[Context("state", commitment, data) for commitment, data in stated], count=row["member_count"],
    )  # fmt: skip
    return asdict(found) | {"bucket": row["bucket"], "members": row["members"]}

"""Clock forks, row by row: the signed digests of entries, and the evidence of two of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pandas as pd
import pyarrow as pa

from strandline.core.equivocation import equivocation
from strandline.dialects.ipfslog.reduce import FORK_KIND
from strandline.dialects.ipfslog.types import DIALECT
from strandline.dialects.ipfslog.verify import signed_digest_of_block
from strandline.kernels.batches import as_batch

PROOF_COLUMNS: Final = ("namespace", "key", "position", "member_count", "id_a", "bytes_a", "id_b", "bytes_b")
PROOF_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("key", pa.string()),
        pa.field("position", pa.string()),
        pa.field("equivocation_id", pa.binary()),
        pa.field("evidence", pa.string()),
    ]
)


def signed_digests(blocks: pd.Series) -> pd.Series:
    """Return the signed digest, 32 bytes, of each accepted v1, v2 or core2 block; None for null."""
    return pd.Series(
        [None if block is None else signed_digest_of_block(block) for block in blocks], dtype=object
    )


def proofs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield id and evidence of each fork.

    Reads: PROOF_COLUMNS.  Gives: PROOF_SCHEMA.
    """
    for batch in batches:
        rows = []
        for row in batch.select(PROOF_COLUMNS).to_pylist():
            records = {row["id_a"]: row["bytes_a"], row["id_b"]: row["bytes_b"]}
            found = equivocation(
                row["namespace"], DIALECT, FORK_KIND, row["key"], row["position"], records=records,
                attributable=True, count=row["member_count"],
            )  # fmt: skip
            rows.append((found.namespace, found.key, found.position, found.equivocation_id, found.evidence))
        if rows:
            yield as_batch(rows, PROOF_SCHEMA)

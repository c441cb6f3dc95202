"""Finds missing parents of the records of a batch, in one pass over each namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.core import ancestry
from strandline.kernels.batches import as_batch

CANDIDATE_COLUMNS: Final = ("namespace", "record_id", "lacking")
MISSING_SCHEMA: Final = pa.schema(
    {"namespace": pa.string(), "record_id": pa.binary(), "missing": pa.list_(pa.binary())}
)


def missing_parents(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the missing parents of candidates: those that are neither accepted nor can be accepted with this batch.

    Reads: CANDIDATE_COLUMNS, sorted by namespace: `lacking` are the parents that are not accepted yet.
    Gives: MISSING_SCHEMA, one row per candidate, `missing` ascending; empty for a candidate that can be accepted.
    Time and memory are linear in the candidates and links of one namespace; records that name each other wait.
    """
    here: str | None = None
    lacking: dict[bytes, tuple[bytes, ...]] = {}
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in CANDIDATE_COLUMNS)
        for namespace, record_id, parents in zip(*columns, strict=True):
            if namespace != here:
                if here is not None:
                    yield _missing(here, lacking)
                here, lacking = namespace, {}
            lacking[record_id] = tuple(parents)
    if here is not None:
        yield _missing(here, lacking)


def _missing(namespace: str, lacking: dict[bytes, tuple[bytes, ...]]) -> pa.RecordBatch:
    missing = ancestry.missing_parents(lacking)
    return as_batch(
        [(namespace, record_id, list(parents)) for record_id, parents in missing.items()], MISSING_SCHEMA
    )

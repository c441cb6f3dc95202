"""Identities to verdicts, and the reasons for which they refute entries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from strandline.core.verdict import MAX_TEXT_CHARS, encode_evidence, evidence_of, reasons_of
from strandline.dialects.ipfslog.codec import canonical_cid, is_dag_pb
from strandline.dialects.ipfslog.types import BlockDocument, IdentityRecord, NamedIdentity, Variant
from strandline.dialects.ipfslog.verify import (
    identity_findings,
    identity_invalid,
    read_element,
    verify_identity,
)

STORED_IDENTITY: Final = pa.schema(
    [
        pa.field("record_id", pa.binary(), nullable=False),
        pa.field("block", pa.binary(), nullable=False),
        *(pa.field(name, pa.string(), nullable=False)
          for name in ("cid", "id", "public_key", "sig_id", "sig_public_key", "type")),
        pa.field("valid", pa.bool_(), nullable=False),
    ]
)  # fmt: skip
"""An identity with the columns of `ipfs_log_identity`."""

IDENTITY: Final = pa.schema(
    [
        *STORED_IDENTITY,
        pa.field("source", pa.string()),
        pa.field("is_new", pa.bool_(), nullable=False),
        pa.field("is_record", pa.bool_(), nullable=False),
        pa.field("is_row", pa.bool_(), nullable=False),
    ]
)
"""An identity that a batch needs.

- `is_new`: it was verified in this run; `is_record`: it was delivered alone.
- `is_row`: it is in `ipfs_log_identity`, or this run adds it: it was delivered alone, or an accepted entry embeds it.
"""


def identities(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield identities with their verdicts; identities are verified only here, and stored ones are not.

    Reads: record_id, block, is_record, is_used (an entry embeds it that only it may refute), source; stored (columns of
            STORED_IDENTITY, or null).
    Gives: IDENTITY, one row per row that is stored or has a block.
    """
    for batch in batches:
        found = [_gathered(row) for row in batch.to_pylist() if row["stored"] or row["block"] is not None]
        yield pa.RecordBatch.from_pylist(found, schema=IDENTITY)


def _gathered(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["stored"]:
        return {
            **row["stored"],
            "source": None,
            "is_new": False,
            "is_record": row["is_record"],
            "is_row": True,
        }
    found = _identity(row["record_id"], row["block"])
    is_row = row["is_record"] or (row["is_used"] and found["valid"])
    return {**found, "source": row["source"], "is_new": True, "is_record": row["is_record"], "is_row": is_row}


def _identity(digest: bytes, block: bytes) -> dict[str, Any]:
    found = _opened(block)
    return {
        "record_id": digest, "block": block, "cid": canonical_cid(digest, "v0" if is_dag_pb(block) else "core2"),
        "id": found.id, "public_key": found.public_key, "sig_id": found.sig_id,
        "sig_public_key": found.sig_public_key, "type": found.type, "valid": verify_identity(found).is_valid,
    }  # fmt: skip


def _opened(block: bytes) -> IdentityRecord:
    element = read_element(BlockDocument(block, None, 0), "strict")
    if not isinstance(element, IdentityRecord):
        raise TypeError("the block must be the block of an identity")
    return element


IDENTITY_CHARS: Final = MAX_TEXT_CHARS + 1
"""The first characters of an identity's texts that its entries need: more than those of a valid one and of evidence."""

REFUTED_COLUMNS: Final = (
    "judge_id", "variant", "key", "reasons", "evidence", "valid", "identity_digest", "public_key", "identity_type",
)  # fmt: skip
"""An entry and its identity; many entries may name one identity of 2 MiB, so none of them has its block."""

REFUTED: Final = pa.schema(
    [
        pa.field("judge_id", pa.binary(), nullable=False),
        pa.field("reasons", pa.list_(pa.string()), nullable=False),
        pa.field("evidence", pa.string(), nullable=False),
    ]
)


def refuted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the reasons of entries that their identity refutes, together with the reasons of their own block.

    Reads: REFUTED_COLUMNS. `variant` is null for an entry that its own block refutes too: only the validity of its
            identity is then left to report.
    Gives: REFUTED, one row per row.
    """
    for batch in batches:
        rows = zip(*(batch.column(name).to_pylist() for name in REFUTED_COLUMNS), strict=True)
        yield pa.RecordBatch.from_pylist([_refuted(*row) for row in rows], schema=REFUTED)


def _refuted(
    judge_id: bytes, variant: Variant | None, key: str | None, reasons: list[str], evidence: str | None,
    valid: bool, digest: bytes, public_key: str, kind: str,
) -> dict[str, Any]:  # fmt: skip
    if variant == "core2":
        findings = identity_findings(variant, key or "", NamedIdentity(digest, public_key, kind), valid)
    else:
        findings = [identity_invalid(digest)]
    merged = {**(json.loads(evidence) if reasons and evidence else {}), **evidence_of(findings)}
    return {
        "judge_id": judge_id,
        "reasons": sorted({*reasons, *reasons_of(findings)}),
        "evidence": encode_evidence(merged),
    }

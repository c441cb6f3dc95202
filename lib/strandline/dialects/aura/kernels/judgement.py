"""Facts judged by their own bytes: phases 1 and 2, and the columns that the table has of a fact."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import pyarrow as pa

from strandline.core.verdict import encode_evidence, evidence_of, reasons_of
from strandline.dialects.aura.codec import content_json, stored_fact, timestamp_json
from strandline.dialects.aura.types import Fact, authority_namespace
from strandline.dialects.aura.verify import rule_findings
from strandline.kernels.blocks import JUDGED_FIELDS
from strandline.kernels.reading import ReadOptions

U64: Final = pa.decimal128(20, 0)
STATE_NAME: Final = pa.struct([pa.field("authority", pa.string()), pa.field("commitment", pa.binary())])

FACT_FIELDS: Final = (
    pa.field("body_id", pa.binary()),
    pa.field("order_token", pa.binary()),
    pa.field("fact_kind", pa.string()),
    pa.field("variant", pa.string()),
    pa.field("timestamp_kind", pa.string()),
    pa.field("timestamp_ms", U64),
    pa.field("timestamp_json", pa.string()),
    pa.field("content_json", pa.string()),
    pa.field(
        "attest",
        pa.list_(
            pa.struct(
                [
                    pa.field("authority", pa.string()),
                    pa.field("commitment", pa.binary()),
                    pa.field("sig", pa.binary()),
                ]
            )
        ),
    ),
    pa.field("op_id", pa.binary()),
    pa.field("parent_commitment", pa.binary()),
    pa.field("parent_epoch", U64),
    pa.field("signer_count", pa.int32()),
)
"""Columns of the table of facts that the bytes of a fact decide."""

JUDGED: Final = pa.schema(
    [
        *JUDGED_FIELDS,
        pa.field("named_states", pa.list_(STATE_NAME)),
        *FACT_FIELDS,
    ]
)
"""A fact judged by its own bytes.

`named_states` are the states whose group keys must have signed, of a fact that is neither an operation nor a genesis.
"""


def judge(
    block: bytes,
    claims: Mapping[str, Any],  # noqa: ARG001 - the interface has it
    options: ReadOptions,  # noqa: ARG001
) -> Mapping[str, Any]:
    """Return the columns of a fact and the rules that it breaks. Input that is no fact was refused before."""
    fact = stored_fact(block)
    findings = rule_findings(fact)
    return {
        "namespace": fact.namespace.text,
        "reasons": list(reasons_of(findings)),
        "evidence": encode_evidence(evidence_of(findings)) if findings else None,
        "named_states": list(named_states(fact)),
        **fact_columns(fact),
    }


@lru_cache(maxsize=4096)
def authority_of(namespace: str) -> bytes:
    """Return the id of an authority from its namespace."""
    return UUID(namespace.partition(":")[2]).bytes


def named_states(fact: Fact) -> Iterator[dict[str, Any]]:
    """Yield the states whose group keys must have signed a fact."""
    for each in fact.attest:
        yield {"authority": authority_namespace(each.authority), "commitment": each.commitment}
    if fact.kind == "RendezvousReceipt":
        content = fact.content
        yield {"authority": authority_namespace(content["authority_id"]), "commitment": content["commitment"]}


def fact_columns(fact: Fact) -> dict[str, Any]:
    """Return FACT_FIELDS of a fact; those of operations only if it is one."""
    ((timestamp_kind, timestamp),) = fact.value["timestamp"].items()
    is_map = isinstance(timestamp, Mapping)
    ms = timestamp.get("ts_ms", timestamp.get("earliest_ms")) if is_map else None
    found: dict[str, Any] = {
        "body_id": fact.body_id,
        "order_token": fact.order,
        "fact_kind": fact.kind,
        "variant": fact.variant,
        "timestamp_kind": timestamp_kind,
        "timestamp_ms": None if ms is None else Decimal(ms),
        "timestamp_json": timestamp_json(fact),
        "content_json": content_json(fact),
        "attest": [
            {"authority": str(UUID(bytes=each.authority)), "commitment": each.commitment, "sig": each.sig}
            for each in fact.attest
        ],
    }
    if fact.attested is not None:
        found |= {
            "op_id": fact.op_id,
            "parent_commitment": fact.attested.op.parent_commitment,
            "parent_epoch": Decimal(fact.attested.op.parent_epoch),
            "signer_count": fact.attested.signer_count,
        }
    return found


def tree_op_json(fact: Fact) -> str:
    """Return the tree operation of a fact as JSON, in the form of `content_json`."""
    op = json.loads(content_json(fact))["AttestedOp"]["op"]
    return json.dumps(op, ensure_ascii=False, separators=(",", ":"))

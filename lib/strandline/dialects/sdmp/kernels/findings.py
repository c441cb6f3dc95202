"""Elements that failed a check to reasons and evidence, in the wording of the reference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from strandline.core.verdict import Finding, encode_evidence, evidence_of, reasons_of
from strandline.dialects.sdmp import codec, verify
from strandline.dialects.sdmp.kernels.facts import MALFORMED, MISMATCH, MISPLACED, NON_CANONICAL, NOT_STORED
from strandline.dialects.sdmp.types import Line
from strandline.kernels.guard import INTERNAL_ERROR, NEXT_RULES

REJECTION_SCHEMA: Final = pa.schema(
    [
        pa.field(name, kind)
        for name, kind in {
            "file_no": pa.int64(), "part": pa.int64(), "frame": pa.int64(), "idx": pa.int64(), "node": pa.string(),
            "raw": pa.binary(), "raw_bytes": pa.int64(), "raw_sha256": pa.binary(), "hash": pa.string(),
            "source_offset": pa.int64(), "status": pa.string(), "reasons": pa.string(), "waits_for": pa.string(),
            "evidence": pa.string(),
        }.items()
    ]
)  # fmt: skip


def rejections(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the reasons and the evidence of elements that failed a check, in the wording of the reference.

    Reads: the columns of REJECTION_SCHEMA that are copied, code, position (1-based), expected, before, damage,
            evidence.
    Gives: REJECTION_SCHEMA; status is `rejected`, or `deferred` for an internal fault.
    """
    for batch in batches:
        found = [row | _verdict(row) for row in batch.to_pylist()]
        columns = {name: [row[name] for row in found] for name in REJECTION_SCHEMA.names}
        yield pa.RecordBatch.from_pydict(columns, schema=REJECTION_SCHEMA)


def _verdict(row: dict[str, Any]) -> dict[str, str | None]:
    if row["damage"] is not None:
        is_fault = row["damage"] == INTERNAL_ERROR
        status, waits_for = ("deferred", NEXT_RULES) if is_fault else ("rejected", None)
        reasons, evidence = row["damage"], row["evidence"]
    else:
        findings = list(_findings(row))
        status, waits_for = "rejected", None
        reasons, evidence = ",".join(reasons_of(findings)), encode_evidence(evidence_of(findings))
    return {"status": status, "reasons": reasons, "waits_for": waits_for, "evidence": evidence}


def _findings(row: dict[str, Any]) -> Iterator[Finding]:
    code, raw, node = row["code"], row["raw"], row["node"]
    # A line that is judged again has the evidence of the first time and keeps its position.
    first = {} if row["evidence"] is None else json.loads(row["evidence"])
    position = min((each["position"] for each in first.values()), default=row["position"])
    if code & MALFORMED:
        yield verify.malformed(row["raw_bytes"], position)
    if code & MISPLACED:
        yield verify.misplaced(raw, node, position)
    profile = codec.profile_of(node)
    line = None if profile is None else codec.parse_line(raw, profile)
    if code & NON_CANONICAL and isinstance(line, Line):
        finding = verify.non_canonical(line, position)
        if finding is not None:
            yield finding
    if code & MISMATCH and isinstance(line, Line):
        before = row["before"] or first["LINE_NUMBER_MISMATCH"]["line_before"].encode("ascii")
        yield verify.number_mismatch(position, row["expected"], str(line.number), before)
    if code & NOT_STORED:
        yield verify.not_stored(row["hash"], position)

"""The facts of a block: every check of an entry except the validity of its identity."""

from __future__ import annotations

from typing import Any, Final

from strandline.core.verdict import encode_evidence, evidence_of, reasons_of
from strandline.dialects.ipfslog.reduce import ops_of, payload_json, value_json
from strandline.dialects.ipfslog.verify import Checked, entry_of, without_identity_signatures

ENTRY_FACTS: Final = (
    "record_id", "namespace", "reasons", "evidence", "flags", "identity_digest", "identity_block", "cid", "variant",
    "log_id", "key", "sig", "clock_time", "clock_id", "writer", "next", "refs", "payload_json", "value_json", "ops",
)  # fmt: skip
"""The facts of one block.

- `reasons` are sorted, with `evidence` as it is stored (None without reasons); the columns from `cid` on are None if
  there is a reason.
- `identity_digest` names the identity that decides the rest; `identity_block` is its block if the entry embeds it. v1
  and v2 are then accepted if the identity is valid; core2 if it is stored, valid, of type publickey and its signing
  key is `key`.
- `writer` is None for core2: it is a member of the identity.
"""


def facts_of(block: Checked) -> tuple[Any, ...]:
    """Return the ENTRY_FACTS of an entry after checks 1 to 16.

    Checks 17 and 19 of v1 and v2 run here; 18 is left for entries whose identity has a fitting type.
    """
    checked = without_identity_signatures(block)
    reasons = reasons_of(checked.findings)
    flags = sorted(checked.flags)
    evidence = encode_evidence(evidence_of(checked.findings)) if reasons else None
    identity = checked.identity
    head = (
        checked.record_id,
        checked.namespace,
        list(reasons),
        evidence,
        flags,
        checked.identity_digest,
        None if identity is None else identity.block,
    )
    if reasons or checked.shaped is None:
        return (*head, *[None] * (len(ENTRY_FACTS) - len(head)))
    entry = entry_of(checked, checked.shaped, None if identity is None else identity.id, tuple(flags))
    is_core = entry.variant == "core2"
    return (
        *head,
        entry.cid,
        entry.variant,
        entry.log_id,
        entry.key,
        entry.sig,
        entry.clock_time,
        entry.clock_id,
        None if is_core else entry.writer,
        list(entry.next),
        list(entry.refs),
        payload_json(entry),
        value_json(entry),
        [(op.op, op.op_key, op.value_json, op.item, op.target) for op in ops_of(entry)],
    )

"""Every entry of the tampering matrix of logs, as files."""

import base64
import json
from dataclasses import replace

from strandline.dialects.ipfslog.author import to_car, to_json
from strandline.dialects.ipfslog.codec import address_text, canonical_cid, dag_pb_block
from strandline.dialects.ipfslog.types import record_id
from support.ipfslog_cases import AUTHORS, who
from support.ipfslog_tampering import BLOCKS, CASES, CLAIMS, JSON_CASES, MADE, V0_CASES, V0_JSON


def blocks():
    made = [BLOCKS[name][1](variant) for name, variant in CASES]
    made += [dag_pb_block(json.dumps(V0_JSON | members).encode()) for members, *_ in V0_CASES.values()]
    return made


def tampered() -> bytes:
    """Every entry of the tampering matrix: as a block by itself, under another address, and as JSON."""
    known = [who(name, variant).record.block for name in AUTHORS.values() for variant in ("v2", "core2")]
    lines = [raw(block, canonical_cid(record_id(block))) for block in [*blocks(), *known]]
    own = MADE["v2"]
    for spell, _ in CLAIMS.values():
        claimed = spell(own.cid)
        lines.append(raw(own.block, claimed if isinstance(claimed, str) else address_text(claimed)))
    for members, _ in JSON_CASES.values():
        value = json.loads(to_json(own)) | members
        lines.append(json.dumps({name: member for name, member in value.items() if member is not ...}))
    return "\n".join(lines).encode() + b"\n"


def tampered_car() -> bytes:
    found = [replace(MADE["v2"], block=block, cid=canonical_cid(record_id(block))) for block in blocks()]
    return to_car(found[:2], found[::3])


def raw(block: bytes, claimed: str) -> str:
    return json.dumps({"cid": claimed, "data": base64.b64encode(block).decode()})

"""Forks of authorities: two or more operations that one group key signed for one state, and the proof of it."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Final

from strandline.core.ed25519 import has_prime_order, verify_ed25519
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.equivocation import Equivocation, equivocation
from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import op_message, parse_fact_cbor
from strandline.dialects.aura.reduce.chain import Chain
from strandline.dialects.aura.types import DIALECT, ZERO, Fact, Genesis, Namespace
from strandline.dialects.aura.verify import AcceptedOp

KIND: Final = "AURA_OP_FORK"
_NESTING: Final = 4


def forks(namespace: Namespace, chain: Chain) -> Iterator[Equivocation]:
    """Yield a row per state with two or more valid children, by the commitment of that state.

    Of the facts with one operation the one with the least id is shown. Two genesis operations name different keys, so
    nobody in particular made both.
    """
    for parent, ops in chain.forks.items():
        yield fork(namespace, parent, ops)


def fork(namespace: Namespace, parent: bytes, ops: list[AcceptedOp]) -> Equivocation:
    """Return the row for operations on one state."""
    first = ops[0]
    key = "" if parent == ZERO else first.group_key.hex()
    records = {op.fact.fact_id: op.fact.cbor for op in ops}
    return _row(namespace, parent, first.attested.op.parent_epoch, key, records)


def _row(
    namespace: Namespace, parent: bytes, epoch: int, key: str, records: Mapping[bytes, bytes]
) -> Equivocation:
    return equivocation(
        namespace.text,
        DIALECT,
        KIND,
        key,
        f"{epoch}:{parent.hex()}",
        records=records,
        attributable=key != "",
    )


def verify_fork(evidence: str) -> bool:
    """Return whether a text of the column `evidence` proves a fork by itself, without tables. Never raises.

    These hold of a proof:
    - it has two facts, operations of one authority on one state, with different op ids;
    - `key` signed both, and is a group key; of two genesis operations `key` is empty, and each signed with its own;
    - it is the text that these two facts and this key give, byte for byte.

    That `key` is the one of the state is not proven: the history of the authority shows it.
    """
    try:
        document = strict_json(evidence.encode("utf-8", "surrogatepass"), nesting=_NESTING)
        key, records = document["key"], [base64.b64decode(each["bytes"]) for each in document["records"]]
    except (JsonRefused, KeyError, TypeError, IndexError, ValueError, binascii.Error):
        return False
    facts = [fact for fact in map(parse_fact_cbor, records) if not isinstance(fact, Finding)]
    if len(facts) != 2 or not isinstance(key, str):
        return False
    one, other = facts
    if one.attested is None or other.attested is None or one.op_id == other.op_id:
        return False
    op, sibling = one.attested.op, other.attested.op
    parent = (one.namespace, op.parent_commitment, op.parent_epoch)
    if parent != (other.namespace, sibling.parent_commitment, sibling.parent_epoch):
        return False
    group_key = _group_key(key)
    row = _row(*parent, group_key.hex(), {fact.fact_id: fact.cbor for fact in facts})
    return row.evidence == evidence and all(_is_signed(fact, group_key) for fact in facts)


def _group_key(key: str) -> bytes:
    try:
        return bytes.fromhex(key)
    except ValueError:
        return b""


def _is_signed(fact: Fact, group_key: bytes) -> bool:
    """Return whether the key signed an operation; without a key, whether a genesis is signed with its own."""
    if fact.attested is None:
        return False
    signer, operation = group_key, fact.attested.op.operation
    if isinstance(operation, Genesis):
        signer = b"" if group_key else operation.key.group_key
    return has_prime_order(signer) and verify_ed25519(
        signer, op_message(fact.body_id, signer), fact.attested.agg_sig
    )

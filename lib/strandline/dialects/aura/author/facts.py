"""Making facts: operations, attested facts, snapshots and receipts. Nothing here reads a clock or a random source.

A signer can sign for a group key: one Ed25519 key, or the holders of a key of FROST(Ed25519, SHA-512).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from strandline.dialects.aura.codec import (
    attest_message,
    authority_id,
    canonical,
    context_digest,
    encode,
    namespace_value,
    op_message,
    receipt_message,
    tree_op_value,
)
from strandline.dialects.aura.types import (
    ID_BYTES,
    OP_VERSION,
    SUITE,
    ZERO,
    Fact,
    Genesis,
    KeyRecord,
    Namespace,
    Operation,
    Policy,
    TreeOp,
)
from strandline.dialects.aura.verify import State

Timestamp = Mapping[str, Any]
"""A time as in CBOR, for example `{"OrderClock": bytes}` or `{"PhysicalClock": {"ts_ms": 1, "uncertainty": None}}`."""

_NO_SIGNATURE: Final = bytes(64)


class Signer(Protocol):
    """A signer for a group key."""

    @property
    def public(self) -> bytes:
        """The group key, 32 bytes."""

    def sign(self, message: bytes) -> bytes:
        """Return the signature, 64 bytes."""


def genesis(
    signer: Signer,
    *,
    min_signers: int,
    max_signers: int,
    policy: Policy,
    salt: bytes,
    order: bytes,
    timestamp: Timestamp,
    signer_count: int,
) -> Fact:
    """Return the first operation of a new authority, whose id is derived from it."""
    key = KeyRecord(signer.public, min_signers, max_signers)
    op = TreeOp(Genesis(SUITE, key, policy, salt), ZERO, 0, OP_VERSION)
    namespace = Namespace("authority", authority_id(canonical(tree_op_value(op))))
    return signed_op(
        namespace, op, signer=signer, order=order, timestamp=timestamp, signer_count=signer_count
    )


def append(
    namespace: Namespace,
    state: State,
    operation: Operation,
    *,
    signer: Signer,
    order: bytes,
    timestamp: Timestamp,
    signer_count: int | None = None,
) -> Fact:
    """Return the operation that follows a state; by default as many signers are claimed as the state requires.

    The state decides whether the operation is valid: `check_attested_op` says why not.
    """
    op = TreeOp(operation, state.commitment, state.epoch, OP_VERSION)
    count = state.required if signer_count is None else signer_count
    return signed_op(namespace, op, signer=signer, order=order, timestamp=timestamp, signer_count=count)


def signed_op(
    namespace: Namespace,
    op: TreeOp,
    *,
    signer: Signer,
    order: bytes,
    timestamp: Timestamp,
    signer_count: int,
) -> Fact:
    """Return the fact of an operation, signed for `signer`'s own key."""
    content = {"op": tree_op_value(op), "agg_sig": _NO_SIGNATURE, "signer_count": signer_count}
    value = _value(namespace, order, timestamp, {"AttestedOp": content})
    body = encode(value).body_id
    signature = signer.sign(op_message(body, signer.public))
    return encode({**value, "content": {"AttestedOp": {**content, "agg_sig": signature}}})


def relational(
    namespace: Namespace, variant: str, members: Mapping[str, Any], *, order: bytes, timestamp: Timestamp
) -> Fact:
    """Return a fact of a context without attestations; `members` as in CBOR."""
    return encode(_value(namespace, order, timestamp, {"Relational": {variant: dict(members)}}))


def context_genesis(members: Iterable[bytes], salt: bytes) -> Fact:
    """Return the genesis of a new context of these authorities; its id, order and time derive from it."""
    content = {"salt": salt, "members": sorted(set(members))}
    digest = context_digest(canonical(content))
    namespace = Namespace("context", digest[:ID_BYTES])
    return relational(namespace, "ContextGenesis", content, order=digest, timestamp={"OrderClock": digest})


def snapshot(
    namespace: Namespace,
    *,
    sequence: int,
    state_hash: bytes,
    supersedes: Iterable[Fact],
    order: bytes,
    timestamp: Timestamp,
) -> Fact:
    """Return a snapshot that supersedes these facts, without attestations."""
    pairs = sorted([fact.order, fact.fact_id] for fact in supersedes)
    content = {"sequence": sequence, "state_hash": state_hash, "superseded_facts": pairs}
    return encode(_value(namespace, order, timestamp, {"Snapshot": content}))


def receipt(
    namespace: Namespace,
    *,
    envelope_id: bytes,
    authority: bytes,
    commitment: bytes,
    received: Timestamp,
    signer: Signer,
    order: bytes,
    timestamp: Timestamp,
) -> Fact:
    """Return the receipt of an envelope, signed under the authority's state `commitment`."""
    content = {
        "envelope_id": envelope_id,
        "authority_id": authority,
        "timestamp": dict(received),
        "commitment": commitment,
        "signature": _NO_SIGNATURE,
    }
    value = _value(namespace, order, timestamp, {"RendezvousReceipt": content})
    body = encode(value).body_id
    signature = signer.sign(receipt_message(body, authority, commitment, signer.public))
    return encode({**value, "content": {"RendezvousReceipt": {**content, "signature": signature}}})


def attest(fact: Fact, authority: bytes, commitment: bytes, signer: Signer) -> Fact:
    """Return the fact with the attestation of one more authority, at its state `commitment`."""
    message = attest_message(fact.body_id, authority, commitment, signer.public)
    added = {"authority": authority, "commitment": commitment, "sig": signer.sign(message)}
    others = [each for each in fact.value["attest"] if each["authority"] != authority]
    attestations = sorted([*others, added], key=lambda each: each["authority"])
    return encode({**fact.value, "attest": attestations})


def _value(
    namespace: Namespace, order: bytes, timestamp: Timestamp, content: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "namespace": namespace_value(namespace),
        "order": order,
        "timestamp": dict(timestamp),
        "content": dict(content),
        "attest": [],
    }

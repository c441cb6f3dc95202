"""Ids and signed messages: tagged SHA-256 over canonical bytes. Ids of facts cover every byte, bodies no signature."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import cbor2

from strandline.core.hashing import tagged, tagged_content
from strandline.dialects.aura.types import ID_BYTES, Namespace

_SIGNATURES: Final = {"AttestedOp": "agg_sig", "RendezvousReceipt": "signature"}


def canonical(value: Any) -> bytes:
    """Return the canonical encoding (RFC 8949, 4.2.1) of a canonical value, whose maps are in order already."""
    return cbor2.dumps(value)


def fact_id(cbor: bytes) -> bytes:
    """Return the id of a fact from its canonical encoding."""
    return hashlib.sha256(fact_content(cbor)).digest()


def fact_content(cbor: bytes) -> bytes:
    """Return the bytes whose SHA-256 is the id of a fact, from its canonical encoding."""
    return tagged_content("strandline/aura/fact/1", cbor)


def body_id(value: Mapping[str, Any]) -> bytes:
    """Return the id of a fact's body, from its canonical value: the fact without its signatures.

    Removed are the list `attest` and the signature of an operation or a receipt; all else stays.
    """
    ((kind, content),) = value["content"].items()
    if kind in _SIGNATURES:
        content = {name: member for name, member in content.items() if name != _SIGNATURES[kind]}
    body = {
        "order": value["order"],
        "content": {kind: content},
        "namespace": value["namespace"],
        "timestamp": value["timestamp"],
    }
    return tagged("strandline/aura/body/1", canonical(body))


def op_id(namespace: Namespace, tree_op: bytes) -> bytes:
    """Return the id of an operation from its canonical encoding, whatever its order, time, signers and signature.

    Threshold signatures are randomised, so one operation may honestly arrive in several facts.
    """
    return tagged("strandline/aura/op/2", namespace.tagged + tree_op)


def authority_id(tree_op: bytes) -> bytes:
    """Return the id that an authority derives from its genesis operation."""
    return tagged("strandline/aura/authority/1", tree_op)[:ID_BYTES]


def context_digest(genesis: bytes) -> bytes:
    """Return the digest of a context, 32 bytes, from the canonical `ContextGenesis`; its head is the context id."""
    return tagged("strandline/aura/context/1", genesis)


def op_message(body: bytes, group_key: bytes) -> bytes:
    """Return the message that a group signs for an operation; the key is that of the parent state."""
    return tagged("strandline/aura/sign-op/2", body + group_key)


def attest_message(body: bytes, authority: bytes, commitment: bytes, group_key: bytes) -> bytes:
    """Return the message of an attestation: the body, the attesting state and its key."""
    return tagged("strandline/aura/sign-attest/1", body + authority + commitment + group_key)


def receipt_message(body: bytes, authority: bytes, commitment: bytes, group_key: bytes) -> bytes:
    """Return the message of a receipt's signature: the body, the receiving state and its key."""
    return tagged("strandline/aura/sign-receipt/1", body + authority + commitment + group_key)

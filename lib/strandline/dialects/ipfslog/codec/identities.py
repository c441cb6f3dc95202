"""Identities as maps, canonical blocks and JSON."""

from collections.abc import Mapping
from typing import Any, Final

from strandline.dialects.ipfslog.codec.dag_cbor import dag_cbor
from strandline.dialects.ipfslog.types import IdentityRecord

_MEMBERS: Final = frozenset({"id", "publicKey", "signatures", "type"})
_SIGNATURES: Final = frozenset({"id", "publicKey"})
_EMBEDDED: Final = b"\x68identity"


def is_identity_shape(value: Any) -> bool:
    """Return whether a value is a map of exactly `id, publicKey, signatures, type`: texts, and a map of two texts."""
    if type(value) is not dict or value.keys() != _MEMBERS:
        return False
    signatures = value["signatures"]
    return (
        type(signatures) is dict
        and signatures.keys() == _SIGNATURES
        and type(value["id"]) is type(value["publicKey"]) is type(value["type"]) is str
        and type(signatures["id"]) is type(signatures["publicKey"]) is str
    )


def has_identity_members(value: Any) -> bool:
    """Return whether a value is a map of exactly the members of an identity, whatever their types."""
    return isinstance(value, dict) and value.keys() == _MEMBERS


def identity_of(value: Mapping[str, Any], block: bytes | None = None) -> IdentityRecord:
    """Return the identity in a map of that shape; `block` is the block it was delivered in, else it is built."""
    signatures = value["signatures"]
    return IdentityRecord(
        id=value["id"],
        public_key=value["publicKey"],
        sig_id=signatures["id"],
        sig_public_key=signatures["publicKey"],
        type=value["type"],
        block=dag_cbor(identity_map(value)) if block is None else block,
    )


def identity_map(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an identity in the order of dag-cbor."""
    signatures = value["signatures"]
    return {
        "id": value["id"],
        "type": value["type"],
        "publicKey": value["publicKey"],
        "signatures": {"id": signatures["id"], "publicKey": signatures["publicKey"]},
    }


def identity_value(identity: IdentityRecord) -> dict[str, Any]:
    """Return an identity as the map that entries embed and JSON shows."""
    return {
        "id": identity.id,
        "publicKey": identity.public_key,
        "signatures": {"id": identity.sig_id, "publicKey": identity.sig_public_key},
        "type": identity.type,
    }


def embedded_block(block: bytes) -> bytes:
    """Return the canonical block of the identity at the end of a v1 or v2 block.

    `identity` is the last name of the map. No text in it can contain the searched bytes: a1..bf never follow an ASCII
    character in UTF-8. So their last place is the member itself.
    """
    return block[block.rindex(_EMBEDDED + b"\xa4") + len(_EMBEDDED) :]

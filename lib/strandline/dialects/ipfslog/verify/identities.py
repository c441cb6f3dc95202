"""Identities: an external key vouches for a signing key."""

from dataclasses import dataclass
from typing import Final

from strandline.core.encoding.base_n import parse_base16
from strandline.core.signatures import COMPRESSED_BYTES, UNCOMPRESSED_BYTES, verify
from strandline.dialects.ipfslog.types import IDENTITY_TYPES, IdentityRecord, NamedIdentity, Variant

_KEY_BYTES: Final = {"orbitdb": UNCOMPRESSED_BYTES, "publickey": COMPRESSED_BYTES}


@dataclass(frozen=True, slots=True)
class KnownIdentity:
    """An identity with its verdict: valid if both of its signatures are."""

    identity: IdentityRecord
    is_valid: bool


def verify_identity(identity: IdentityRecord) -> KnownIdentity:
    """Return the identity with its verdict. Both profiles judge identities strictly.

    A valid identity meets these conditions:
    - `type` is `orbitdb`, with an uncompressed signing key, or `publickey`, with a compressed one;
    - `id` is a compressed key; keys and signatures are lower-case hex; signatures are strict DER with low S;
    - the signing key signed the text `id`; the external key signed `publicKey` and `signatures.id` joined.
    """
    return KnownIdentity(identity, _is_valid(identity))


def _is_valid(identity: IdentityRecord) -> bool:
    external, signing = parse_base16(identity.id), parse_base16(identity.public_key)
    by_signing, by_external = parse_base16(identity.sig_id), parse_base16(identity.sig_public_key)
    if external is None or signing is None or by_signing is None or by_external is None:
        return False
    if len(external) != COMPRESSED_BYTES or len(signing) != _KEY_BYTES.get(identity.type):
        return False
    vouched = (identity.public_key + identity.sig_id).encode("utf-8")
    return verify(signing, by_signing, identity.id.encode("utf-8")) and verify(external, by_external, vouched)


def fits_variant(identity: IdentityRecord | NamedIdentity, variant: Variant) -> bool:
    """Return whether the type, which no signature covers, is the one that entries of the variant use."""
    return IDENTITY_TYPES.get(variant) == identity.type

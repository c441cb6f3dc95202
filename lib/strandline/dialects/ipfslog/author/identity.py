"""Identities that can sign: an external key vouches for a signing key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from strandline.core.signatures import SigningKey
from strandline.dialects.ipfslog.codec import canonical_cid, identity_of
from strandline.dialects.ipfslog.types import IdentityRecord

IdentityType: TypeAlias = Literal["orbitdb", "publickey"]


@dataclass(frozen=True, slots=True)
class Identity:
    """A writer: the public identity and the private key that signs."""

    record: IdentityRecord
    signing_key: SigningKey

    @classmethod
    def from_keys(cls, id_key: bytes, signing_key: bytes, type: IdentityType) -> Identity:  # noqa: A002
        """Return the identity in which the external key `id_key` vouches for `signing_key`; both are 32 bytes.

        `orbitdb` is the type for v0, v1 and v2, `publickey` the type for core2.

        Raises:
            ValueError: a key is not 32 bytes, or not a number in 1..n-1.
        """
        external, signing = SigningKey(id_key), SigningKey(signing_key)
        id_ = external.public(compressed=True).hex()
        public_key = signing.public(compressed=type == "publickey").hex()
        sig_id = signing.sign(id_.encode("ascii")).hex()
        sig_public_key = external.sign((public_key + sig_id).encode("ascii")).hex()
        value = {
            "id": id_,
            "publicKey": public_key,
            "signatures": {"id": sig_id, "publicKey": sig_public_key},
            "type": type,
        }
        return cls(identity_of(value), signing)

    @property
    def id(self) -> str:
        """The external key, hex: the name of the writer in write lists."""
        return self.record.id

    @property
    def public_key(self) -> str:
        """The signing key, hex: the `key` of entries."""
        return self.record.public_key

    @property
    def cid(self) -> str:
        """The content address of the identity, which core2 entries carry."""
        return canonical_cid(self.record.digest)

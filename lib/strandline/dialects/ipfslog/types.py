"""The values of logs: content addresses, entries, identities, manifests, and unreadable input."""

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote

from strandline.core import ids
from strandline.core.verdict import Evidence

Variant: TypeAlias = Literal["v0", "v1", "v2", "core2"]
Profile: TypeAlias = Literal["strict", "compat"]
ManifestKind: TypeAlias = Literal["log", "database", "controller", "list"]
Floats: TypeAlias = Literal["wide", "short"]

DIALECT: Final = "ipfslog"
VARIANTS: Final[tuple[Variant, ...]] = ("v0", "v1", "v2", "core2")
PROFILES: Final[tuple[Profile, ...]] = ("strict", "compat")
DIGEST_BYTES: Final = 32
MAX_BLOCK_BYTES: Final = 2 * 1024 * 1024
MAX_ID_BYTES: Final = 1024
MAX_TIME: Final = 2**53
"""The greatest clock time that is accepted: JavaScript peers reach it after a clock was saturated."""

SATURATED_TIME: Final = 2**53 - 1
IDENTITY_TYPES: Final[dict[Variant, str]] = {"v1": "orbitdb", "v2": "orbitdb", "core2": "publickey"}
SHARED_NAMESPACE: Final = "log:"
"""Namespace of identities and manifests, which belong to no log; a log id is never empty."""


@lru_cache(maxsize=4096)
def log_namespace(log_id: str) -> str:
    """Return the namespace of a log: its id percent-encoded, so that it never acts as a path."""
    return ids.namespace("log", quote(log_id, safe=""))


def record_id(block: bytes) -> bytes:
    """Return the record id of a block: SHA-256, 32 bytes, the digest in its content address."""
    return hashlib.sha256(block).digest()


@dataclass(frozen=True, slots=True)
class Cid:
    """A content address in one of the three supported forms; its `digest` identifies the bytes, so compare that."""

    raw: bytes

    @property
    def digest(self) -> bytes:
        """SHA-256 of the block."""
        return self.raw[-DIGEST_BYTES:]


@dataclass(frozen=True, slots=True)
class IdentityRecord:
    """The identity of a writer, members as written: an external key (`id`) vouches for a signing key (`public_key`)."""

    id: str
    public_key: str
    sig_id: str
    sig_public_key: str
    type: str
    block: bytes
    """Canonical dag-cbor, also for an identity embedded in an entry; for a dag-pb block, the block as stored."""

    @property
    def digest(self) -> bytes:
        """SHA-256 of the block."""
        return record_id(self.block)


@dataclass(frozen=True, slots=True)
class NamedIdentity:
    """What of an identity decides on entries, besides its verdict; a text that no valid identity has may be cut."""

    digest: bytes
    public_key: str
    type: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry that passed its checks; `block` is exactly the bytes whose digest is `record_id`.

    `next` and `refs` are digests in the order of the block. `writer` is the id of the identity (v0: the key);
    `identity_digest` is None for v0. `payload` is the decoded value: a text, number, boolean, None, list or dict,
    with `bytes` for byte strings and `CBORTag(42, ..)` for links. `flags` are sorted.
    """

    record_id: bytes
    cid: str
    variant: Variant
    log_id: str
    key: str = field(repr=False)
    sig: str = field(repr=False)
    clock_time: int
    clock_id: str = field(repr=False)
    writer: str
    identity_digest: bytes | None = field(repr=False)
    block: bytes = field(repr=False)
    next: tuple[bytes, ...]
    refs: tuple[bytes, ...]
    payload: Any
    flags: tuple[str, ...]

    @property
    def namespace(self) -> str:
        """The namespace of the entry's log."""
        return log_namespace(self.log_id)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest or access list. Members that its kind does not have are None; `write` is sorted.

    `heads` are the digests that a `log` manifest claims; None for one that cannot be read.
    """

    record_id: bytes
    block: bytes
    cid: str
    kind: ManifestKind
    log_id: str | None = None
    name: str | None = None
    type: str | None = None
    access: str | None = None
    write: tuple[str, ...] | None = None
    heads: tuple[bytes | None, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockDocument:
    """A block as delivered. `claimed` is the content address delivered with it: a text, or bytes from a CAR."""

    block: bytes
    claimed: str | bytes | None
    offset: int
    snapshot_id: str | None = None
    is_head: bool = False


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A JSON object with the shape of an entry, identity or manifest; `raw` is its exact bytes in the file."""

    value: dict[str, Any]
    raw: bytes
    offset: int
    snapshot_id: str | None = None
    is_head: bool = False


@dataclass(frozen=True, slots=True)
class HeadClaim:
    """A head that a snapshot or a CAR names; `digest` is None if its content address cannot be read."""

    digest: bytes | None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Input that could not be opened, one rejected record; `reasons` are sorted.

    `offset` is in the decompressed file.
    """

    reasons: tuple[str, ...]
    raw: bytes
    offset: int
    evidence: Evidence


Document: TypeAlias = BlockDocument | JsonDocument | HeadClaim | Unreadable

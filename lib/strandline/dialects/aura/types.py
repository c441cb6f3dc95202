"""The values of Aura journals: namespaces, facts, tree operations, policies, and unreadable input.

The model follows the Aura book, chapter "Journal" (2025-12). Ids of authorities, contexts and devices are 16 bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from uuid import UUID

from strandline.core import ids
from strandline.core.verdict import Evidence

NamespaceKind: TypeAlias = Literal["authority", "context"]
FactKind: TypeAlias = Literal["AttestedOp", "Relational", "Snapshot", "RendezvousReceipt"]
PolicyKind: TypeAlias = Literal["Any", "Threshold", "All"]
Role: TypeAlias = Literal["Device", "Guardian"]

DIALECT: Final = "aura"
ID_BYTES: Final = 16
DIGEST_BYTES: Final = 32
ZERO: Final = bytes(DIGEST_BYTES)
"""32 zero bytes: no commitment, no operation, no previous charge."""

OP_VERSION: Final = 2
SUITE: Final = 1
"""The only hash suite of commitment trees: SHA-256."""

MAX_EPOCH: Final = 2**64 - 1
MAX_LEAVES: Final = 4096
"""Active leaves of one authority: it bounds what one authority costs all others."""

MAX_FACT_BYTES: Final = 1024 * 1024
MAX_SUPERSEDED: Final = 15_000
"""Facts that one snapshot may supersede: with 64 attestations they fit into a fact."""


@dataclass(frozen=True, slots=True, order=True)
class Namespace:
    """An authority or a context, the unit of merging."""

    kind: NamespaceKind
    id: bytes

    @property
    def text(self) -> str:
        """The namespace as stored: `authority:<uuid>` or `context:<uuid>`."""
        return ids.namespace(self.kind, str(UUID(bytes=self.id)))

    @property
    def tagged(self) -> bytes:
        """Its 17 bytes in hash inputs: 00 (authority) or 01 (context), then the id."""
        return (b"\x01" if self.kind == "context" else b"\x00") + self.id


def authority_namespace(authority: bytes) -> str:
    """Return the namespace of an authority from its id."""
    return Namespace("authority", authority).text


@dataclass(frozen=True, slots=True)
class Policy:
    """How many leaves must sign: any one, `m` of `n` (a share of the active leaves), or all."""

    kind: PolicyKind
    m: int = 0
    n: int = 0

    def __str__(self) -> str:
        return f"{self.m}/{self.n}" if self.kind == "Threshold" else self.kind


ANY: Final = Policy("Any")
ALL: Final = Policy("All")


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A group key and how many holders must and may sign with it."""

    group_key: bytes
    min_signers: int
    max_signers: int


@dataclass(frozen=True, slots=True)
class LeafNode:
    """A leaf of a commitment tree: a device or a guardian with its public key."""

    leaf_id: int
    device_id: bytes
    role: Role
    public_key: bytes
    meta: bytes


@dataclass(frozen=True, slots=True)
class Genesis:
    """The first operation of an authority: its first group key and policy."""

    suite: int
    key: KeyRecord
    policy: Policy
    salt: bytes


@dataclass(frozen=True, slots=True)
class AddLeaf:
    """A new leaf. `under` names a node that must exist, and places nothing."""

    leaf: LeafNode
    under: int


@dataclass(frozen=True, slots=True)
class RemoveLeaf:
    """An active leaf goes, and its id is never used again."""

    leaf: int
    reason: int


@dataclass(frozen=True, slots=True)
class RekeyLeaf:
    """An active leaf gets another public key."""

    leaf: int
    public_key: bytes


@dataclass(frozen=True, slots=True)
class ChangePolicy:
    """A stricter policy of the root."""

    node: int
    new_policy: Policy


@dataclass(frozen=True, slots=True)
class RotateEpoch:
    """The next epoch, with the next group key if one is given."""

    affected: tuple[int, ...]
    key: KeyRecord | None


Operation: TypeAlias = Genesis | AddLeaf | RemoveLeaf | RekeyLeaf | ChangePolicy | RotateEpoch


@dataclass(frozen=True, slots=True)
class TreeOp:
    """An operation together with the state that it follows."""

    operation: Operation
    parent_commitment: bytes
    parent_epoch: int
    version: int

    @property
    def kind(self) -> str:
        """Name of the operation, as in JSON."""
        return type(self.operation).__name__


@dataclass(frozen=True, slots=True)
class AttestedOp:
    """A tree operation with the threshold signature over it. `signer_count` is a claim of its signers."""

    op: TreeOp
    agg_sig: bytes
    signer_count: int


@dataclass(frozen=True, slots=True, order=True)
class Attestation:
    """The signature of an authority over a fact, under the group key of its state `commitment`."""

    authority: bytes
    commitment: bytes
    sig: bytes


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that has its form. Equal ids mean equal bytes.

    - `cbor`: the canonical encoding, all five members; it is what is hashed, signed and stored.
    - `value`: the value of `cbor`: maps in canonical order, ids and digests as bytes.
    - `variant`: kind of operation, variant of a relational fact, or `kind` again.
    - `content`: the members of the variant; `op` is set if the fact is an operation, and `op_id` too.
    """

    fact_id: bytes
    body_id: bytes = field(compare=False)
    namespace: Namespace = field(compare=False)
    order: bytes = field(compare=False, repr=False)
    kind: FactKind = field(compare=False)
    variant: str = field(compare=False)
    content: Mapping[str, Any] = field(compare=False, repr=False)
    attest: tuple[Attestation, ...] = field(compare=False, repr=False)
    value: Mapping[str, Any] = field(compare=False, repr=False)
    cbor: bytes = field(compare=False, repr=False)
    attested: AttestedOp | None = field(compare=False, repr=False, default=None)
    op_id: bytes | None = field(compare=False, default=None)


@dataclass(frozen=True, slots=True)
class FactDocument:
    """A fact as delivered: phase 1 accepted it. `offset` is in the decompressed file."""

    fact: Fact
    offset: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Input that is not a fact, one rejected record; `reasons` are sorted.

    `raw` is its exact bytes in the file; `namespace` is that of the document around it, or its own if it has one.
    """

    reasons: tuple[str, ...]
    raw: bytes
    offset: int
    evidence: Evidence
    namespace: Namespace | None = None


Document: TypeAlias = FactDocument | Unreadable

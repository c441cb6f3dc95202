"""The values of node journals: lines, frames, announcements, what could not be opened, and own nodes."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from strandline.core.verdict import Evidence

Profile: TypeAlias = Literal["0.9", "0.12"]
Pair: TypeAlias = tuple[str, str]
"""(author fingerprint, resource identifier)."""
RecordPolicy: TypeAlias = Literal["all", "connections"]

DIALECT: Final = "sdmp"
PROFILES: Final[tuple[Profile, ...]] = ("0.9", "0.12")


def line_hash(line: bytes, profile: Profile = "0.9") -> str:
    """Return H(line): the number that the next line must carry.

    `0.9`: SHA-256 (FIPS 180-4), 64 lower-case hex characters. `0.12`: SHA-512, base64url without padding
    (RFC 4648, section 5), 86 characters. The newline is never hashed.
    """
    return LINE_HASHES[profile](line)


def _sha256_hex(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _sha512_base64url(line: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha512(line).digest())[:86].decode("ascii")


LINE_HASHES: Final[Mapping[Profile, Callable[[bytes], str]]] = {"0.9": _sha256_hex, "0.12": _sha512_base64url}
"""H by profile."""


def record_id(line: bytes) -> bytes:
    """Return SHA-256(line), 32 bytes: the record id in both profiles."""
    return hashlib.sha256(line).digest()


@dataclass(frozen=True, slots=True)
class Line:
    """One well-formed line. `number`, `author` and `resource`: the parts before `@`, up to `/`, after it.

    Line 1 is the node's fingerprint alone: all three are None. `raw` is what is hashed, without newline.
    """

    profile: Profile
    raw: bytes
    number: str | None
    author: str | None
    resource: str | None

    @property
    def hash(self) -> str:
        """The number that the next line must carry; computed at every call."""
        return line_hash(self.raw, self.profile)

    @property
    def record_id(self) -> bytes:
        """SHA-256 of the line, 32 bytes; computed at every call."""
        return record_id(self.raw)

    @property
    def pair(self) -> Pair | None:
        """Author and resource; None for line 1."""
        return None if self.author is None or self.resource is None else (self.author, self.resource)

    @property
    def is_first(self) -> bool:
        """True for line 1, the fingerprint."""
        return self.number is None


@dataclass(frozen=True, slots=True)
class Frame:
    """A claim about the order of lines of one node: a whole text journal, or a batch.

    `since` is None for a text journal. `elements` are untrusted bytes, exactly as delivered.
    """

    node: str
    profile: Profile
    since: str | None
    elements: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Announcement:
    """Resources that a node says it has got or created. `elements` are (author, resource), of any form."""

    node: str
    profile: Profile
    elements: tuple[tuple[str, str], ...]
    seq: int | None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or a frame that cannot be opened: one rejected record.

    `reasons` ascending; `offset` in the decompressed file; `node` is None where the journal is unknown:
    always, but for the elements of a refused announcement.
    """

    reasons: tuple[str, ...]
    raw: bytes
    offset: int
    evidence: Evidence
    node: str | None = None


@dataclass(frozen=True, slots=True)
class SourceContent:
    """What one decompressed file holds, in file order; each frame with its offset in bytes."""

    frames: tuple[tuple[int, Frame | Announcement], ...]
    damages: tuple[Unreadable, ...]


@dataclass(frozen=True, slots=True)
class Connection:
    """A user that an own node is connected to. Its nodes are peers of the own node."""

    user: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnNode:
    """A node whose journal is written here. `user` is whose node it is; all ids are of `profile`.

    `record`: from a peer's journal it takes `all` pairs, or those whose author it is connected with.
    """

    node: str
    profile: Profile
    user: str
    record: RecordPolicy
    connections: tuple[Connection, ...]

    @property
    def peers(self) -> Mapping[str, str]:
        """The user of each peer, by the peer's fingerprint, ascending."""
        users = {peer: connection.user for connection in self.connections for peer in connection.nodes}
        return dict(sorted(users.items()))

    @property
    def authors(self) -> frozenset[str] | None:
        """The authors whose pairs it takes from peers: itself, its user, users and nodes of its connections.

        None: those of any author.
        """
        if self.record == "all":
            return None
        users = {connection.user for connection in self.connections}
        return frozenset({self.node, self.user, *users, *self.peers})


@dataclass(frozen=True, slots=True)
class NodeResource:
    """A row of `node_resource` (but its bucket): a resource that an own node holds, and when it said so.

    `ingest_no` counts the runs that landed some; `seq` is the frame's own, `frame_no` its line in its file, `pos`
    the place in it, both from 0. Of a restored line: its place in the journal, and 0.
    """

    namespace: str
    author_fp: str
    resource_id: str
    ingest_no: int
    seq: int | None
    frame_no: int
    pos: int
    frame_hash: bytes
    origin: Literal["announced", "restored"]

    @property
    def pair(self) -> Pair:
        """Author and resource."""
        return self.author_fp, self.resource_id

    @property
    def order(self) -> tuple[int, bool, int, int, bytes, int]:
        """What decides the order of writing: run, `seq` (none comes last), frame, its bytes, place in it."""
        return self.ingest_no, self.seq is None, self.seq or 0, self.frame_no, self.frame_hash, self.pos


@dataclass(frozen=True, slots=True)
class JournalRequest:
    """Node `node` asks `to` for the lines after the one whose number is `since`, at most `limit` of them."""

    node: str
    to: str
    since: str
    limit: int


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """Node `node` asks `to` for a resource that its journal names."""

    node: str
    to: str
    author: str
    resource: str


@dataclass(frozen=True, slots=True)
class MalformedRequest:
    """A line of a request file that is none; `line` counts from 1."""

    line: int
    field: str
    expected: str
    actual: str

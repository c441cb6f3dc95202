"""The values of node journals: lines, frames, announcements, unreadable input, local nodes and requests."""

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
    """Return H(line), the number of the next line.

    `0.9`: SHA-256 (FIPS 180-4), 64 lower-case hex characters. `0.12`: SHA-512, base64url without padding (RFC 4648,
    section 5), 86 characters. The newline is not hashed.
    """
    return LINE_HASHES[profile](line)


def _sha256_hex(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _sha512_base64url(line: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha512(line).digest())[:86].decode("ascii")


LINE_HASHES: Final[Mapping[Profile, Callable[[bytes], str]]] = {"0.9": _sha256_hex, "0.12": _sha512_base64url}
"""H by profile."""


def record_id(line: bytes) -> bytes:
    """Return the record id of a line in both profiles: SHA-256(line), 32 bytes."""
    return hashlib.sha256(line).digest()


@dataclass(frozen=True, slots=True)
class Line:
    """A well-formed line `number@author/resource`; `raw` is its bytes without newline, as they are hashed.

    Line 1 is the node's fingerprint alone: its `number`, `author` and `resource` are None.
    """

    profile: Profile
    raw: bytes
    number: str | None
    author: str | None
    resource: str | None

    @property
    def hash(self) -> str:
        """The number of the next line; computed at each access."""
        return line_hash(self.raw, self.profile)

    @property
    def record_id(self) -> bytes:
        """SHA-256 of the line, 32 bytes; computed at each access."""
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
    """Consecutive lines of one node: a whole text journal (`since` is None) or a batch.

    `since` is the number of the line before the first element. `elements` are untrusted bytes, exactly as delivered.
    """

    node: str
    profile: Profile
    since: str | None
    elements: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Announcement:
    """Resources that a node announces as received or created. `elements` are (author, resource), not yet validated."""

    node: str
    profile: Profile
    elements: tuple[tuple[str, str], ...]
    seq: int | None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or a frame that cannot be opened: one rejected record.

    `reasons` are sorted. `offset` is in bytes, in the decompressed file. `node` is set only for elements of a refused
    announcement; otherwise the journal is unknown.
    """

    reasons: tuple[str, ...]
    raw: bytes
    offset: int
    evidence: Evidence
    node: str | None = None


@dataclass(frozen=True, slots=True)
class SourceContent:
    """The content of one decompressed file, in file order; each frame comes with its offset in bytes."""

    frames: tuple[tuple[int, Frame | Announcement], ...]
    damages: tuple[Unreadable, ...]


@dataclass(frozen=True, slots=True)
class Connection:
    """A user that a local node is connected to. The user's nodes are peers of the local node."""

    user: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocalNode:
    """A node whose journal this lake writes, owned by `user`. All ids are of `profile`.

    `record` selects the pairs that it takes from the journals of peers: `all`, or `connections`, those whose author
    it is connected with.
    """

    node: str
    profile: Profile
    user: str
    record: RecordPolicy
    connections: tuple[Connection, ...]

    @property
    def peers(self) -> Mapping[str, str]:
        """The user of each peer, by the peer's fingerprint, sorted by fingerprint."""
        users = {peer: connection.user for connection in self.connections for peer in connection.nodes}
        return dict(sorted(users.items()))

    @property
    def authors(self) -> frozenset[str] | None:
        """The authors whose pairs it takes from peers, or None for any author.

        With `record` = `connections`: the node itself, its user, and the users and nodes of its connections.
        """
        if self.record == "all":
            return None
        users = {connection.user for connection in self.connections}
        return frozenset({self.node, self.user, *users, *self.peers})


@dataclass(frozen=True, slots=True)
class NodeResource:
    """A row of `node_resource` without its bucket: a resource that a local node holds.

    It has the resource's place in the writing order: `ingest_no` numbers the runs that added resources, `seq` is the
    frame's own number, `frame_no` the number of the frame's line in its file, `pos` the place in the frame; the last
    two count from 0. For a restored line, `frame_no` is its place in the journal and `pos` is 0.
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
        """The writing order: by run, `seq` (null last), frame, hash of the frame, place in the frame."""
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
    """A line of a request file that is not a valid request; `line` counts from 1."""

    line: int
    field: str
    expected: str
    actual: str

"""The values of node journals: lines, frames, announcements, and what could not be opened."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from strandline.core.verdict import Evidence

Profile: TypeAlias = Literal["0.9", "0.12"]

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
class Damage:
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
    damages: tuple[Damage, ...]

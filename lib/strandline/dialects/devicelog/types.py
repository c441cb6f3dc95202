"""The values of device logs: entries and their headers, statements in bodies, and refused input.

An entry is written by one device, whose key is the name of its log. Logs of one user form a group. Both input profiles,
`native` and `ssb` (Scuttlebutt), give the same `Entry`. Ids, keys and hashes are 32 bytes.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from strandline.core import ids
from strandline.core.verdict import Finding, JsonValue, evidence_of, reasons_of

Profile: TypeAlias = Literal["native", "ssb"]
Kind: TypeAlias = Literal["key", "msg", "ack", "screw", "add-log", "remove-log"]
ForkPolicy: TypeAlias = Literal["keep-both", "freeze"]

DIALECT: Final = "devicelog"
KINDS: Final[tuple[Kind, ...]] = ("key", "msg", "ack", "screw", "add-log", "remove-log")
FORK_POLICIES: Final[tuple[ForkPolicy, ...]] = ("keep-both", "freeze")
ID_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
MAX_LINE_BYTES: Final = 1024 * 1024
MAX_BODY_BYTES: Final = 256 * 1024
MAX_DEPS: Final = 1024
MAX_INITIAL: Final = 1023
"""Logs that a founder's key entry may name."""

MAX_LABEL_BYTES: Final = 64
MAX_NUMBER: Final = 2**53 - 1
"""The greatest `seq`, `lamport` and position: JavaScript reads it exactly."""

MAX_UTC: Final = 253_402_300_799_999
"""The last millisecond of the year 9999."""

FOUNDING_CLOCK: Final = -1
NOTHING: Final = -1
"""`last_seq` of a `remove-log` whose author saw no entry of the removed log."""


@dataclass(frozen=True, slots=True)
class KeyStatement:
    """Body of `key`, the start of a log. `initial` are the logs that a founder admits, in the order of their rank."""

    label: str
    initial: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class AddStatement:
    """Body of `add-log`: the log that it admits."""

    log: bytes


@dataclass(frozen=True, slots=True)
class RemoveStatement:
    """Body of `remove-log`: the log ends after `last_id`, its entry at `last_seq`; None, -1: before its first."""

    log: bytes
    last_seq: int
    last_id: bytes | None


@dataclass(frozen=True, slots=True)
class ScrewStatement:
    """Body of `screw`: the author rewinds its view from `n_before` messages to `rewind`, and has then `n_after`.

    `v_` are the hashes of the view at these lengths, `from_heads` the newest entries of the view before, ascending.
    """

    rewind: int
    v_rewind: bytes
    n_before: int
    v_before: bytes
    n_after: int
    v_after: bytes
    from_heads: tuple[bytes, ...]


Statement: TypeAlias = KeyStatement | AddStatement | RemoveStatement | ScrewStatement
"""What a body states, unless the kind is `msg` or `ack`."""


@dataclass(frozen=True, slots=True)
class Header:
    """An entry without body and signature: everything that reducers read.

    `group` is the id of the founder's key entry, also in that entry itself; for `ssb` it is the author's key. `prev`
    is None for the first entry of a log. `deps` are ascending. `utc` is milliseconds since 1970 by the author's clock.
    `statement` is None for `msg` and `ack`.
    """

    record_id: bytes
    profile: Profile
    group: bytes = field(repr=False)
    log: bytes = field(repr=False)
    seq: int
    kind: Kind
    lamport: int
    utc: int
    prev: bytes | None = field(repr=False)
    deps: tuple[bytes, ...] = field(repr=False)
    statement: Statement | None = field(repr=False)

    @property
    def namespace(self) -> str:
        """The namespace of the group."""
        return group_namespace(self.group)

    @property
    def is_founder(self) -> bool:
        """Whether this is the first entry of a group: its id is the id of the group."""
        return self.record_id == self.group


@dataclass(frozen=True, slots=True)
class Entry(Header):
    """An entry that passed the checks of its own bytes.

    `body` is None if it was erased; its size and SHA-256 stay. `raw` is the signed text of `ssb`, else None.
    """

    body: bytes | None = field(repr=False)
    body_size: int = field(repr=False)
    body_hash: bytes = field(repr=False)
    sig: bytes = field(repr=False)
    raw: bytes | None = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a line or a text is no entry.

    `namespace` and `record_id` are None if the bytes were refused before these were known.
    """

    findings: tuple[Finding, ...]
    namespace: str | None = None
    record_id: bytes | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """The distinct reasons, ascending."""
        return reasons_of(self.findings)

    @property
    def evidence(self) -> dict[str, JsonValue]:
        """The evidence by reason."""
        return evidence_of(self.findings)


def group_namespace(group: bytes) -> str:
    """Return the namespace of a group: `group:` and 64 lower-case hex digits."""
    return ids.namespace("group", group.hex())

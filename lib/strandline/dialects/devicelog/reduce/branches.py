"""Branches: paths inside one log, and the places of entries in a view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from strandline.dialects.devicelog.types import Header

Key: TypeAlias = tuple[int, int, bytes]
"""The place of an entry in a view: lamport, utc, id."""

NONE: Final = -1
"""No entry, or a bound below every entry."""


def key_of(header: Header) -> Key:
    """Return the place of an entry in the order of views and of claims."""
    return header.lamport, header.utc, header.record_id


@dataclass(slots=True)
class Branch:
    """A path of entries of one log: their indices, and its messages by seq.

    `parent` is the fork point before its first entry, or NONE. `root` is the branch in which its log starts.
    """

    log: bytes
    parent: int
    root: int
    last_seq: int = NONE
    entries: list[int] = field(default_factory=list)
    message_seqs: list[int] = field(default_factory=list)
    message_keys: list[Key] = field(default_factory=list)

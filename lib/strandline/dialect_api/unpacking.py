"""What `unpack` sees of a dialect whose nodes keep blocks in folders. Spark is not needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unpacking:
    """How the blocks that a node keeps become one file.

    `dialect` reads the file, whose name has the `ending`; files of a block store have the `stored_ending`. `of_file`
    takes such a file's name without it and its bytes, `of_entry` a key of a key-value store and its value: each gives
    what goes into the file, or None for what is no block. `roots` gives the addresses that a value names, `roots_key`
    is where it stands. `heads` gives how files with these roots begin: the first is that with the blocks, others have
    the roots for which the first has no room. A block of more than `most_bytes` is one that the dialect never reads.
    """

    dialect: str
    ending: str
    stored_ending: str
    of_file: Callable[[str, bytes], bytes | None]
    of_entry: Callable[[bytes, bytes], bytes | None]
    roots_key: bytes
    roots: Callable[[bytes], Sequence[bytes]]
    heads: Callable[[Sequence[bytes]], Sequence[bytes]]
    most_bytes: int

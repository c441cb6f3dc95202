"""The interface of `unpack` to a dialect whose nodes store blocks in folders. Needs no Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unpacking:
    """How the blocks that a node stores become one file.

    `dialect` reads the file, whose name has the `ending`; files of a block store have the `stored_ending`. `of_file`
    takes the name of such a file without the ending, and its bytes; `of_entry` takes a key and a value of a key-value
    store. Both return the bytes for the output, or None if it is not a block. `roots` returns the addresses in the
    value of the key `roots_key`. `heads` returns the first bytes of the files with these roots: the first file gets the
    blocks, the others have roots for which the first has no room. A block of more than `most_bytes` is never read.
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

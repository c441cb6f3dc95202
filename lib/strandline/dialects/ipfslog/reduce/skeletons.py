"""What remains of pruned entries, so that order, heads, tails, counts and state hash do not change.

Each pruned entry leaves a skeleton; all pruned entries of a log together leave a carry, which also fixes the log's
configuration from then on.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from strandline.core.encoding.strict_cbor import CborRefused
from strandline.dialects.ipfslog.codec import dag_cbor, parse_cid, parse_dag_cbor
from strandline.dialects.ipfslog.reduce.configuration import LogConfiguration, list_digest
from strandline.dialects.ipfslog.reduce.dag import Node, Walkable
from strandline.dialects.ipfslog.reduce.stores import STORES

_VERSION: Final = 1
_MEMBERS: Final = {"v", "mode", "store", "write", "count", "blocks", "documents"}


def encode_skeleton(node: Walkable) -> bytes:
    """Return the stored skeleton of an entry: dag-cbor of time, clock id, digests of `next`, address."""
    return dag_cbor([node.clock_time, node.clock_id, list(node.next), node.cid])


def decode_skeleton(raw: bytes) -> Node:
    """Return the node in a stored skeleton.

    Raises:
        ValueError: the bytes are not a skeleton.
    """
    try:
        value: Any = parse_dag_cbor(raw).value
    except CborRefused:
        raise ValueError("a skeleton must be canonical dag-cbor") from None
    if not isinstance(value, list) or [type(part) for part in value] != [int, str, list, str]:
        raise ValueError("a skeleton must be a list of time, clock id, digests and address")
    time, clock_id, next_, text = value
    cid = parse_cid(text)
    if isinstance(cid, str) or not all(isinstance(digest, bytes) for digest in next_):
        raise ValueError("a skeleton must name entries by their digests and addresses")
    return Node(cid.digest, time, clock_id, tuple(next_), text, None)


@dataclass(frozen=True, slots=True)
class Carry:
    """The sum of a log's pruned entries, and the log's configuration from then on; its mode is `sort`.

    `count` is their number, `blocks` the hashes of the complete blocks of the order, `documents` the hash of the
    documents or None.
    """

    store: str
    write: tuple[str, ...]
    count: int
    blocks: tuple[bytes, ...] = ()
    documents: bytes | None = None

    def agrees(self, configuration: LogConfiguration, digest: bytes | None = None) -> bool:
        """Return whether a configuration has the store and the write list of the carry.

        `digest` is the `list_digest` of a list that the configuration itself does not have.
        """
        if self.store != configuration.store:
            return False
        if digest is not None:
            return list_digest(self.write) == digest
        return self.write == tuple(sorted(set(configuration.write)))

    def configuration_of(self, found: LogConfiguration, digest: bytes | None = None) -> LogConfiguration:
        """Return the configuration of the log, `found` if it `agrees`, else that of the carry."""
        if self.agrees(found, digest):
            return found
        return LogConfiguration(STORES[self.store], self.write, "snapshot")


def encode_carry(carry: Carry) -> bytes:
    """Return a carry as stored: dag-cbor of a map."""
    return dag_cbor(
        {
            "v": _VERSION,
            "mode": "sort",
            "store": carry.store,
            "write": list(carry.write),
            "count": carry.count,
            "blocks": list(carry.blocks),
            "documents": carry.documents,
        }
    )


def decode_carry(raw: bytes) -> Carry:
    """Return the carry in stored bytes.

    Raises:
        ValueError: the bytes are not a carry.
    """
    try:
        value: Any = parse_dag_cbor(raw, most_values=len(raw)).value
    except CborRefused:
        raise ValueError("a carry must be canonical dag-cbor") from None
    match value:
        case {
            "v": version, "mode": "sort", "store": str(store), "write": [*write], "count": int(count),
            "blocks": [*blocks], "documents": bytes() | None as documents,
        } if (
            value.keys() == _MEMBERS and version == _VERSION and store in STORES and type(count) is int
            and _are(str, write) and _are(bytes, blocks)
        ):  # fmt: skip
            return Carry(store, tuple(write), count, tuple(blocks), documents)
    raise ValueError("a carry must be that of a log in mode sort, of a known store")


def _are(kind: type, values: Iterable[Any]) -> bool:
    return all(type(each) is kind for each in values)

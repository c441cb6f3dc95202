"""What stays of pruned entries, so that order, heads, tails, count and state hash stay what they were.

Of each entry a skeleton; of all of a log together a carry, which also holds what the log is reduced as from then on.
"""

from dataclasses import dataclass
from typing import Any, Final

from strandline.core.encoding.strict_cbor import CborRefused
from strandline.dialects.ipfslog.codec import dag_cbor, parse_cid, parse_dag_cbor
from strandline.dialects.ipfslog.reduce.configuration import LogConfiguration
from strandline.dialects.ipfslog.reduce.dag import Node, Walkable
from strandline.dialects.ipfslog.reduce.stores import STORES

_VERSION: Final = 1
_MEMBERS: Final = {"v", "mode", "store", "write", "count", "blocks", "documents"}


def encode_skeleton(node: Walkable) -> bytes:
    """Return the skeleton of an entry as it is stored: dag-cbor of time, clock id, digests of `next`, address."""
    return dag_cbor([node.clock_time, node.clock_id, list(node.next), node.cid])


def decode_skeleton(raw: bytes) -> Node:
    """Return the node that stands for a pruned entry.

    Raises:
        ValueError: the bytes are no skeleton.
    """
    try:
        value: Any = parse_dag_cbor(raw).value
    except CborRefused:
        raise ValueError("a skeleton is canonical dag-cbor") from None
    if not isinstance(value, list) or [type(part) for part in value] != [int, str, list, str]:
        raise ValueError("a skeleton is a list of time, clock id, digests and address")
    time, clock_id, next_, text = value
    cid = parse_cid(text)
    if isinstance(cid, str) or not all(isinstance(digest, bytes) for digest in next_):
        raise ValueError("a skeleton names entries by their digests and addresses")
    return Node(cid.digest, time, clock_id, tuple(next_), text, None)


@dataclass(frozen=True, slots=True)
class Carry:
    """What the pruned entries of a log add up to: `count` of them, hashes of the complete blocks of the order, and of
    the documents or None. Store and write list are those of the log from then on; its mode is `sort`.
    """

    store: str
    write: tuple[str, ...]
    count: int
    blocks: tuple[bytes, ...] = ()
    documents: bytes | None = None

    def holds(self, configuration: LogConfiguration) -> bool:
        """Return whether a configuration says what the carry says."""
        return self.store == configuration.store and self.write == tuple(sorted(set(configuration.write)))

    def configuration_of(self, found: LogConfiguration) -> LogConfiguration:
        """Return what the log is reduced as, whatever its manifests say since: `found` if it says the same."""
        if self.holds(found):
            return found
        return LogConfiguration(STORES[self.store], self.write, "snapshot")


def encode_carry(carry: Carry) -> bytes:
    """Return a carry as it is stored: dag-cbor of a map."""
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
    """Return the carry that bytes are.

    Raises:
        ValueError: the bytes are no carry.
    """
    try:
        value: Any = parse_dag_cbor(raw).value
    except CborRefused:
        raise ValueError("a carry is canonical dag-cbor") from None
    if not isinstance(value, dict) or value.keys() != _MEMBERS or value["v"] != _VERSION:
        raise ValueError("a carry is a map of version 1")
    if value["mode"] != "sort" or value["store"] not in STORES:
        raise ValueError("only logs in mode sort, of a known store, are pruned")
    return Carry(
        value["store"], tuple(value["write"]), value["count"], tuple(value["blocks"]), value["documents"]
    )

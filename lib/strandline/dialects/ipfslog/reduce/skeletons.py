"""Skeletons: what stays of a pruned entry, so that order, heads, tails, count and state hash stay what they were."""

from typing import Any

from strandline.core.encoding.strict_cbor import CborRefused
from strandline.dialects.ipfslog.codec import dag_cbor, parse_cid, parse_dag_cbor
from strandline.dialects.ipfslog.reduce.dag import Node, Walkable


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

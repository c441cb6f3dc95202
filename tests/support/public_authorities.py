"""The account reducer of the public implementation, for differential tests.

It reads published journal documents, verifies nothing, and gives other commitments than `reduce_authority`, by design.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from strandline.core.encoding.strict_cbor import encode_cbor
from strandline.dialects.aura.types import ZERO, Policy
from strandline.dialects.aura.verify.tree import Hash, leaf_hash, policy_hash, sha256

Ties: TypeAlias = Literal["first", "all"]
_U16 = 2**16


class PublicState(NamedTuple):
    """What the public reducer gives: epoch, commitment, threshold, number of devices."""

    epoch: int
    commitment: bytes
    threshold: int
    device_count: int


def reduce_authority(document: Mapping[str, Any], h: Hash = sha256, ties: Ties = "first") -> PublicState:
    """Return the state of a published journal document, a JSON value.

    `h` is SHA-256 for versions of 2025, BLAKE3 since April 2026. Of facts with one order, documents before March 2026
    count the `first`; later ones count `all`, by canonical bytes of time and content, identical ones once. Facts
    without a flattened operation are skipped; nothing is ever invalid.
    """
    state = PublicState(0, ZERO, 1, 0)
    for operation in _operations(document, ties):
        ((kind, members),) = ({operation: {}} if isinstance(operation, str) else operation).items()
        state = _applied(state, kind, members, h)
    return state


def _operations(document: Mapping[str, Any], ties: Ties) -> Iterator[Any]:
    facts = [(octets(fact["order"]), fact) for fact in document["facts"]]
    if ties == "first":
        distinct: dict[Any, Any] = {}
        for order, fact in facts:
            distinct.setdefault(order, fact)
    else:
        distinct = {
            (order, encode_cbor(fact["timestamp"]), encode_cbor(fact["content"])): fact
            for order, fact in facts
        }
    for key in sorted(distinct):
        operation = distinct[key]["content"].get("AttestedOp", {}).get("tree_op")
        if operation is not None:
            yield operation


def _applied(state: PublicState, kind: str, members: Mapping[str, Any], h: Hash) -> PublicState:
    epoch, commitment, threshold, devices = state
    at_epoch = epoch.to_bytes(8, "little")
    match kind:
        case "AddLeaf":
            leaf = leaf_hash(devices, epoch, octets(members["public_key"]), h)
            commitment = h(b"ROOT_WITH_LEAF" + leaf + commitment + devices.to_bytes(4, "little"))
            return PublicState(epoch, commitment, threshold, devices + (members["role"] == "Device"))
        case "RemoveLeaf":
            index = members["leaf_index"].to_bytes(4, "little")
            commitment = h(b"ROOT_REMOVE_LEAF" + index + commitment + at_epoch)
            return PublicState(epoch, commitment, threshold, max(devices - 1, 0))
        case "UpdatePolicy":
            policy = policy_hash(Policy("Threshold", members["threshold"], devices % _U16), h)
            commitment = h(b"ROOT_WITH_POLICY" + policy + commitment + at_epoch)
            return PublicState(epoch, commitment, members["threshold"], devices)
        case "RotateEpoch":
            policy = policy_hash(Policy("Threshold", threshold, devices % _U16), h)
            later = (epoch + 1).to_bytes(8, "little")
            return PublicState(
                epoch + 1, h(b"ROOT_EPOCH_ROTATE" + later + policy + commitment), threshold, devices
            )
    return state


def octets(value: Any) -> bytes:
    """Return the bytes that a published document has as hex or as a list of numbers."""
    return bytes.fromhex(value) if isinstance(value, str) else bytes(value)

"""The canonical bytes of an authority's state, and the hash that equal histories share on every machine."""

from collections.abc import Mapping
from typing import Any, Final

from strandline.core.encoding.strict_cbor import CborRefused, encode_cbor, strict_cbor
from strandline.core.errors import FaultError
from strandline.core.hashing import tagged
from strandline.dialects.aura.codec import (
    key_record,
    key_value,
    leaf_value,
    namespace_value,
    policy_of,
    policy_value,
)
from strandline.dialects.aura.types import LeafNode, Namespace
from strandline.dialects.aura.verify import EMPTY, State, committed

REDUCER: Final = "aura-authority/1"
"""The version of these rules: it changes when any state does."""

_NESTING: Final = 8


def state_cbor(namespace: Namespace, state: State) -> bytes:
    """Return the canonical encoding of the state of an authority."""
    return encode_cbor(
        {
            "namespace": namespace_value(namespace),
            "suite": state.suite,
            "epoch": state.epoch,
            "commitment": state.commitment,
            "tree_commitment": state.tree_commitment,
            "policy": policy_value(state.policy),
            "key": None if state.key is None else key_value(state.key),
            "key_epoch": state.key_epoch,
            "next_leaf_id": state.next_leaf_id,
            "leaves": [leaf_value(leaf) for leaf in state.leaves.values()],
            "op_id": state.op_id,
            "height": state.height,
        }
    )


def state_hash(encoded: bytes) -> bytes:
    """Return the state hash of the namespace, 32 bytes, from `state_cbor`."""
    return tagged("strandline/aura/authority-state/1", encoded)


def parse_state(encoded: bytes) -> State:
    """Return the state of its stored encoding, with its tree computed again.

    Raises:
        FaultError: `STATE_DAMAGED`, the bytes are not those of a state with this commitment.
    """
    try:
        value = strict_cbor(encoded, tags=frozenset(), floats=("none",), nesting=_NESTING).value
        stated = _state(value)
        state = EMPTY if stated == EMPTY else committed(stated)
        if state.commitment == value["commitment"]:
            return state
    except (CborRefused, KeyError, TypeError, OverflowError, AttributeError):
        pass
    raise FaultError(
        "STATE_DAMAGED",
        "A stored state of an authority does not have the commitment that it states.",
        "Run `strandline reduce --full`: it computes the state again from the facts.",
    )


def _state(value: Mapping[str, Any]) -> State:
    leaves = [LeafNode(**leaf) for leaf in value["leaves"]]
    return State(
        epoch=value["epoch"],
        policy=policy_of(value["policy"]),
        key=None if value["key"] is None else key_record(value["key"]),
        key_epoch=value["key_epoch"],
        suite=value["suite"],
        leaves={leaf.leaf_id: leaf for leaf in leaves},
        next_leaf_id=value["next_leaf_id"],
        height=value["height"],
        op_id=value["op_id"],
    )

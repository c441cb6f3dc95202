"""Canonical values of tree operations to their types, and back."""

from collections.abc import Mapping
from typing import Any, Final

from strandline.dialects.aura.types import (
    ALL,
    ANY,
    AddLeaf,
    AttestedOp,
    ChangePolicy,
    Genesis,
    KeyRecord,
    LeafNode,
    Operation,
    Policy,
    RekeyLeaf,
    RemoveLeaf,
    RotateEpoch,
    TreeOp,
)

_WORDS: Final = {"Any": ANY, "All": ALL}


def attested_op(content: Mapping[str, Any]) -> AttestedOp:
    """Return the operation of the canonical `AttestedOp`."""
    return AttestedOp(tree_op(content["op"]), content["agg_sig"], content["signer_count"])


def tree_op(value: Mapping[str, Any]) -> TreeOp:
    """Return the operation of a canonical `TreeOp`."""
    ((kind, members),) = value["op"].items()
    return TreeOp(
        _operation(kind, members), value["parent_commitment"], value["parent_epoch"], value["version"]
    )


def _operation(kind: str, members: Mapping[str, Any]) -> Operation:
    match kind:
        case "Genesis":
            key, policy = key_record(members["key"]), policy_of(members["policy"])
            return Genesis(members["suite"], key, policy, members["salt"])
        case "AddLeaf":
            return AddLeaf(LeafNode(**members["leaf"]), members["under"])
        case "RemoveLeaf":
            return RemoveLeaf(**members)
        case "RekeyLeaf":
            return RekeyLeaf(**members)
        case "ChangePolicy":
            return ChangePolicy(members["node"], policy_of(members["new_policy"]))
        case _:
            given = members["key"]
            return RotateEpoch(tuple(members["affected"]), None if given is None else key_record(given))


def key_record(value: Mapping[str, Any]) -> KeyRecord:
    """Return the key record of its canonical value."""
    return KeyRecord(**value)


def policy_of(value: Any) -> Policy:
    """Return the policy of its canonical value: a word, or a map with the threshold."""
    return _WORDS[value] if type(value) is str else Policy("Threshold", **value["Threshold"])


def policy_value(policy: Policy) -> Any:
    """Return the canonical value of a policy."""
    return {"Threshold": {"m": policy.m, "n": policy.n}} if policy.kind == "Threshold" else policy.kind


def key_value(key: KeyRecord) -> dict[str, Any]:
    """Return the canonical value of a key record."""
    return {"group_key": key.group_key, "max_signers": key.max_signers, "min_signers": key.min_signers}


def leaf_value(leaf: LeafNode) -> dict[str, Any]:
    """Return the canonical value of a leaf."""
    return {
        "meta": leaf.meta,
        "role": leaf.role,
        "leaf_id": leaf.leaf_id,
        "device_id": leaf.device_id,
        "public_key": leaf.public_key,
    }


def tree_op_value(op: TreeOp) -> dict[str, Any]:
    """Return the canonical value of an operation."""
    return {
        "op": {op.kind: _members(op.operation)},
        "version": op.version,
        "parent_epoch": op.parent_epoch,
        "parent_commitment": op.parent_commitment,
    }


def _members(operation: Operation) -> dict[str, Any]:
    match operation:
        case Genesis():
            return {
                "key": key_value(operation.key),
                "salt": operation.salt,
                "suite": operation.suite,
                "policy": policy_value(operation.policy),
            }
        case AddLeaf():
            return {"leaf": leaf_value(operation.leaf), "under": operation.under}
        case RemoveLeaf():
            return {"leaf": operation.leaf, "reason": operation.reason}
        case RekeyLeaf():
            return {"leaf": operation.leaf, "public_key": operation.public_key}
        case ChangePolicy():
            return {"node": operation.node, "new_policy": policy_value(operation.new_policy)}
        case RotateEpoch():
            key = None if operation.key is None else key_value(operation.key)
            return {"key": key, "affected": list(operation.affected)}

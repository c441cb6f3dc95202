"""Whether an operation fits the state that it follows."""

from strandline.core.verdict import Evidence, Finding
from strandline.dialects.aura.types import (
    MAX_EPOCH,
    MAX_LEAVES,
    AddLeaf,
    ChangePolicy,
    RekeyLeaf,
    RemoveLeaf,
    RotateEpoch,
    TreeOp,
)
from strandline.dialects.aura.verify.policies import is_stricter
from strandline.dialects.aura.verify.states import State
from strandline.dialects.aura.verify.tree import node_count


def check_attested_op(state: State, op: TreeOp) -> list[Finding]:
    """Return why an operation does not fit the state that it follows; nothing if it does.

    These hold, each with its code:
    - a new leaf has the next id (`LEAF_ID_NOT_NEXT`), an existing node above it (`NODE_UNKNOWN`), the key of no active
      leaf (`LEAF_KEY_DUPLICATE`), and there are fewer than 4,096 (`LEAF_LIMIT`);
    - a removed or changed leaf is active (`LEAF_UNKNOWN`); its new key is that of no active leaf, itself included;
    - a policy belongs to the root (`NODE_NOT_ROOT`) and is as strict as the one before, or stricter
      (`POLICY_NOT_STRICTER`);
    - a rotation names nodes that exist (`NODE_UNKNOWN`), and the epoch can grow (`EPOCH_OVERFLOW`).
    """
    return [Finding(code, evidence) for code, evidence in _misfits(state, op)]


def _misfits(state: State, op: TreeOp) -> list[tuple[str, Evidence]]:
    found: list[tuple[str, Evidence]] = []
    nodes = node_count(len(state.leaves))
    operation = op.operation
    match operation:
        case AddLeaf():
            leaf = operation.leaf
            if leaf.leaf_id != state.next_leaf_id:
                found.append(("LEAF_ID_NOT_NEXT", {"expected": state.next_leaf_id, "actual": leaf.leaf_id}))
            if operation.under >= nodes:
                found.append(("NODE_UNKNOWN", {"expected": f"below {nodes}", "actual": operation.under}))
            if len(state.leaves) >= MAX_LEAVES:
                found.append(("LEAF_LIMIT", {"expected": MAX_LEAVES}))
            found += _duplicates(state, leaf.public_key)
        case RemoveLeaf():
            found += _unknown(state, operation.leaf)
        case RekeyLeaf():
            found += _unknown(state, operation.leaf) + _duplicates(state, operation.public_key)
        case ChangePolicy():
            if operation.node:
                found.append(("NODE_NOT_ROOT", {"expected": 0, "actual": operation.node}))
            if is_stricter(state.policy, operation.new_policy):
                policies = {"expected": str(state.policy), "actual": str(operation.new_policy)}
                found.append(("POLICY_NOT_STRICTER", policies))
        case RotateEpoch():
            if operation.affected and operation.affected[-1] >= nodes:
                found.append(
                    ("NODE_UNKNOWN", {"expected": f"below {nodes}", "actual": operation.affected[-1]})
                )
            if state.epoch == MAX_EPOCH:
                found.append(("EPOCH_OVERFLOW", {"actual": str(state.epoch)}))
    return found


def _unknown(state: State, leaf_id: int) -> list[tuple[str, Evidence]]:
    return [] if leaf_id in state.leaves else [("LEAF_UNKNOWN", {"actual": leaf_id})]


def _duplicates(state: State, public_key: bytes) -> list[tuple[str, Evidence]]:
    for leaf_id, leaf in state.leaves.items():
        if leaf.public_key == public_key:
            return [("LEAF_KEY_DUPLICATE", {"leaf_id": leaf_id})]
    return []

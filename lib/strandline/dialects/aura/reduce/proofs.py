"""Proofs that a leaf belongs to a state. Verification needs only the commitment of the state, and no Spark."""

from dataclasses import dataclass

from strandline.dialects.aura.types import MAX_EPOCH, MAX_LEAVES, KeyRecord, Policy
from strandline.dialects.aura.verify import State, state_commitment
from strandline.dialects.aura.verify.tree import (
    branch_hash,
    branch_policy,
    first_index,
    leaf_hash,
    level_sizes,
    tree_commitment,
)

_MAX_U32 = 2**32 - 1
_MAX_U16 = 2**16 - 1


@dataclass(frozen=True, slots=True)
class Proof:
    """A leaf, and the hashes that lead from it to the commitment of a state.

    `siblings`: one hash per level from the leaves up; the node itself where it has no right sibling. `position` of
    the leaf among `leaves` active ones, by ascending id.
    """

    leaf_id: int
    public_key: bytes
    position: int
    leaves: int
    threshold: int
    epoch: int
    siblings: tuple[bytes, ...]
    op_id: bytes
    key: KeyRecord
    policy: Policy


def leaf_proof(state: State, leaf_id: int) -> Proof:
    """Return the proof of an active leaf.

    Raises:
        KeyError: the leaf is not active.
    """
    leaf = state.leaves[leaf_id]
    if state.key is None:
        raise KeyError(leaf_id)
    position = at = list(state.leaves).index(leaf_id)
    siblings = []
    for level in state.tree.levels[:-1]:
        siblings.append(level[min(at ^ 1, len(level) - 1)])
        at //= 2
    return Proof(
        leaf_id=leaf_id,
        public_key=leaf.public_key,
        position=position,
        leaves=len(state.leaves),
        threshold=state.tree.threshold,
        epoch=state.epoch,
        siblings=tuple(siblings),
        op_id=state.op_id,
        key=state.key,
        policy=state.policy,
    )


def proven_root(proof: Proof) -> bytes | None:
    """Return the root of the tree that the proof leads to, or None if it has no form.

    Every index and policy is derived from the number of leaves.
    """
    if not _has_form(proof):
        return None
    node = leaf_hash(proof.leaf_id, proof.epoch, proof.public_key)
    at = proof.position
    for level, sibling in enumerate(proof.siblings, 1):
        left, right = (node, sibling) if at % 2 == 0 else (sibling, node)
        at //= 2
        policy = branch_policy(proof.leaves, proof.threshold, level, at)
        index = first_index(proof.leaves, level) + at
        node = branch_hash(index, proof.epoch, policy, left, right)
    return node


def verify_leaf_proof(commitment: bytes, proof: Proof) -> bool:
    """Return whether the state with this commitment has the leaf. Never raises for any values of the right types."""
    root = proven_root(proof)
    if root is None:
        return False
    tree = tree_commitment(proof.epoch, proof.threshold, proof.leaves, root)
    return state_commitment(proof, tree) == commitment


def _has_form(proof: Proof) -> bool:
    return (
        1 <= proof.leaves <= MAX_LEAVES
        and 0 <= proof.position < proof.leaves
        and 0 <= proof.leaf_id <= _MAX_U32
        and 0 <= proof.epoch <= MAX_EPOCH
        and len(proof.siblings) == len(level_sizes(proof.leaves)) - 1
        and all(
            0 <= number <= _MAX_U16
            for number in (
                proof.threshold,
                proof.key.min_signers,
                proof.key.max_signers,
                proof.policy.m,
                proof.policy.n,
            )
        )
        and all(len(each) == len(proof.op_id) == 32 for each in (*proof.siblings, proof.key.group_key))
    )

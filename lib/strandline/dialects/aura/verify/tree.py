"""The commitment tree: a binary tree over the active leaves, whose every node hashes epoch, policy and children.

Nodes are recomputed only where their inputs changed; a full recomputation gives the same tree.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from strandline.dialects.aura.types import ALL, ANY, ZERO, LeafNode, Policy

Hash: TypeAlias = Callable[[bytes], bytes]

_VERSION: Final = (1).to_bytes(2, "little")


def sha256(data: bytes) -> bytes:
    """Return SHA-256 of the data: the hash of suite 1."""
    return hashlib.sha256(data).digest()


@lru_cache(maxsize=4096)
def policy_hash(policy: Policy, h: Hash = sha256) -> bytes:
    """Return the hash of a policy."""
    if policy.kind == "Threshold":
        return h(b"\x01" + policy.m.to_bytes(2, "little") + policy.n.to_bytes(2, "little"))
    return h(b"\x00" if policy.kind == "Any" else b"\x02")


def leaf_hash(leaf_id: int, epoch: int, public_key: bytes, h: Hash = sha256) -> bytes:
    """Return the commitment of a leaf."""
    return h(b"LEAF" + _VERSION + leaf_id.to_bytes(4, "little") + epoch.to_bytes(8, "little") + h(public_key))


def branch_hash(index: int, epoch: int, policy: Policy, left: bytes, right: bytes) -> bytes:
    """Return the commitment of a branch."""
    return sha256(_branch_head(index, epoch, policy, sha256) + left + right)


def _branch_head(index: int, epoch: int, policy: Policy, h: Hash) -> bytes:
    head = b"BRANCH" + _VERSION + index.to_bytes(4, "little") + epoch.to_bytes(8, "little")
    return head + policy_hash(policy, h)


def tree_commitment(epoch: int, threshold: int, leaves: int, root: bytes, h: Hash = sha256) -> bytes:
    """Return the commitment of a whole tree."""
    numbers = epoch.to_bytes(8, "little") + threshold.to_bytes(2, "little") + leaves.to_bytes(4, "little")
    return h(b"TREE_COMMITMENT_V2" + numbers + root)


@lru_cache(maxsize=1024)
def level_sizes(leaves: int) -> tuple[int, ...]:
    """Return the number of nodes of each level, from the leaves up to the root; none for no leaf.

    A single leaf has a branch above it.
    """
    if leaves == 0:
        return ()
    sizes = [leaves, -(-leaves // 2)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 2))
    return tuple(sizes)


@lru_cache(maxsize=1024)
def _first_indices(leaves: int) -> tuple[int, ...]:
    """Return the index of the first node of each level: branches are numbered from the root, breadth first."""
    sizes = level_sizes(leaves)
    return tuple(sum(sizes[level + 1 :]) for level in range(len(sizes)))


def first_index(leaves: int, level: int) -> int:
    """Return the index of the first branch of a level, which counts from the leaves."""
    return _first_indices(leaves)[level]


def node_count(leaves: int) -> int:
    """Return how many node indices are valid: the branches, at least 1."""
    return max(1, sum(level_sizes(leaves)[1:]))


@lru_cache(maxsize=4096)
def branch_policy(leaves: int, threshold: int, level: int, position: int) -> Policy:
    """Return the policy of a branch: the threshold over the leaves below it."""
    below = min(leaves, (position + 1) << level) - (position << level)
    m = min(max(threshold, 1), below)
    if m == below:
        return ALL
    return ANY if m == 1 else Policy("Threshold", m, below)


@lru_cache(maxsize=4096)
def _head_at(leaves: int, threshold: int, epoch: int, level: int, position: int, h: Hash) -> bytes:
    """Return what a branch hashes before its children."""
    policy = branch_policy(leaves, threshold, level, position)
    return _branch_head(first_index(leaves, level) + position, epoch, policy, h)


@dataclass(frozen=True, slots=True)
class Tree:
    """The hashes of all nodes, by level from the leaves up, and what they were computed for.

    `branch_hashes` counts the branches that the last step hashed.
    """

    epoch: int
    threshold: int
    levels: tuple[tuple[bytes, ...], ...]
    branch_hashes: int = 0

    @property
    def root(self) -> bytes:
        """Hash of the root, 32 zero bytes without leaves."""
        return self.levels[-1][0] if self.levels else ZERO

    @property
    def leaf_count(self) -> int:
        """Number of active leaves."""
        return len(self.levels[0]) if self.levels else 0

    def commitment(self, h: Hash = sha256) -> bytes:
        """Return the commitment of the tree, 32 bytes."""
        return tree_commitment(self.epoch, self.threshold, self.leaf_count, self.root, h)


def full_tree(leaves: Sequence[LeafNode], epoch: int, threshold: int, h: Hash = sha256) -> Tree:
    """Return the tree of the active leaves, given in ascending order of their ids."""
    return _tree(None, leaves, epoch, threshold, range(len(leaves)), h)


def updated_tree(
    before: Tree | None,
    leaves: Sequence[LeafNode],
    epoch: int,
    threshold: int,
    changed: range,
    h: Hash = sha256,
) -> Tree:
    """Return the tree after a change; only nodes whose inputs changed are hashed again.

    `changed` are the positions of new, changed or moved leaves; after a removal also those that are no more. The result
    equals `full_tree`, which it is without a tree `before`.
    """
    if before is None or epoch != before.epoch:
        return full_tree(leaves, epoch, threshold, h)
    return _tree(before, leaves, epoch, threshold, changed, h)


def _tree(
    before: Tree | None, leaves: Sequence[LeafNode], epoch: int, threshold: int, changed: range, h: Hash
) -> Tree:
    count = len(leaves)
    sizes = level_sizes(count)
    if not sizes:
        return Tree(epoch, threshold, ())
    old = before.levels if before is not None else ()
    inside = range(changed.start, min(changed.stop, count))
    new = [leaf_hash(leaves[at].leaf_id, epoch, leaves[at].public_key, h) for at in inside]
    below = _spliced(old[0] if old else (), inside, new, count)
    levels, hashed = [below], 0
    has_same_leaves = before is not None and before.leaf_count == count
    for level in range(1, len(sizes)):
        changed = range(changed.start // 2, (changed.stop + 1) // 2) if changed else changed
        if before is None or not (has_same_leaves or _keeps_indices(before.leaf_count, count, level)):
            changed = range(sizes[level])
        elif threshold != before.threshold:
            changed = _with_other_policies(changed, count, level, before.threshold, threshold)
        inside, last = range(changed.start, min(changed.stop, sizes[level])), len(below) - 1
        new = [
            h(_head_at(count, threshold, epoch, level, at, h) + below[2 * at] + below[min(2 * at + 1, last)])
            for at in inside
        ]
        hashed += len(new)
        below = _spliced(old[level] if level < len(old) else (), inside, new, sizes[level])
        levels.append(below)
    return Tree(epoch, threshold, tuple(levels), hashed)


def _spliced(old: tuple[bytes, ...], inside: range, new: list[bytes], size: int) -> tuple[bytes, ...]:
    """Return a level with the new hashes in their places."""
    if not new:
        return old[:size]
    return (*old[: inside.start], *new, *old[inside.stop : size])


def _keeps_indices(before: int, leaves: int, level: int) -> bool:
    """Return whether the branches of a level have the same indices with both numbers of leaves."""
    return level < len(level_sizes(before)) and first_index(before, level) == first_index(leaves, level)


def _with_other_policies(changed: range, leaves: int, level: int, before: int, threshold: int) -> range:
    """Return the positions of a level that changed, and those whose policy another threshold changes."""
    last = level_sizes(leaves)[level] - 1

    def differs(at: int) -> bool:
        return branch_policy(leaves, before, level, at) != branch_policy(leaves, threshold, level, at)

    # The last branch may have fewer leaves below it. Its policy changes only if that of the others does, too.
    if not differs(0):
        return changed
    return range(max(changed.stop, last + 1 if differs(last) else last))

"""Merkle trees of RFC 9162, section 2.1, with SHA-256: roots, and proofs of a leaf and of an older tree.

A tree is known by a function that gives the root of a range of its leaves, so that a proof reads only parts of it.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""The root of the tree without leaves."""

RootOf = Callable[[int, int], bytes]
"""Returns the root of the leaves from a position up to another one, which is left out."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf with this data, 32 bytes."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node, 32 bytes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root over hashes of leaves, or over the roots of subtrees.

    The subtrees follow one another, and each has the same power of two of leaves; the last one may have fewer.
    """
    level, sha256 = list(hashes), hashlib.sha256
    if not level:
        return EMPTY_ROOT
    while len(level) > 1:
        # As `node_hash`: of large trees, calls are a third of the time.
        pairs = [sha256(b"\x01" + a + b).digest() for a, b in zip(level[::2], level[1::2], strict=False)]
        # Without a partner, the last one rises: its subtree is the smaller one of its node.
        level = pairs if len(level) % 2 == 0 else [*pairs, level[-1]]
    return level[0]


def inclusion_path(index: int, size: int, root: RootOf) -> list[bytes]:
    """Return the hashes that lead from a leaf to the root of the first `size` leaves, from below (RFC 9162, 2.1.3.1).

    Raises:
        ValueError: the tree has no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    path, start, end = [], 0, size
    while end - start > 1:
        middle = start + _half(end - start)
        if index < middle:
            path.append(root(middle, end))
            end = middle
        else:
            path.append(root(start, middle))
            start = middle
    return path[::-1]


def consistency_path(old: int, size: int, root: RootOf) -> list[bytes]:
    """Return the hashes that show that the first `old` leaves are those of an older tree (RFC 9162, 2.1.4.1).

    Trees of equal size need none.

    Raises:
        ValueError: `old` is not from 1 to `size`. From the empty tree there is nothing to show.
    """
    if not 1 <= old <= size:
        raise ValueError(f"a tree of {size} leaves does not continue one of {old}")
    path, start, end, is_whole = [], 0, size, True
    while end != old:
        middle = start + _half(end - start)
        if old <= middle:
            path.append(root(middle, end))
            end = middle
        else:
            path.append(root(start, middle))
            start, is_whole = middle, False
    # The verifier knows the old tree's root: it is left out where it is one node of the new tree.
    return [*([] if is_whole else [root(start, end)]), *path[::-1]]


def is_included(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Return whether a path proves that a leaf is at `index` of the tree with this root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    node, last, found = index, size - 1, leaf
    for each in path:
        if last == 0:
            return False
        if node % 2 or node == last:
            found = node_hash(each, found)
            node, last = _up_while_even(node, last)
        else:
            found = node_hash(found, each)
        node, last = node // 2, last // 2
    return last == 0 and found == root


def is_continued(old: int, size: int, path: Sequence[bytes], old_root: bytes, root: bytes) -> bool:
    """Return whether a path proves that a tree begins with all leaves of an older one (RFC 9162, 2.1.4.2)."""
    if not 1 <= old <= size:
        return False
    if old == size:
        return not path and old_root == root
    hashes = [old_root, *path] if old & (old - 1) == 0 else list(path)
    if not hashes:
        return False
    node, last = old - 1, size - 1
    while node % 2:
        node, last = node // 2, last // 2
    before = after = hashes[0]
    for each in hashes[1:]:
        if last == 0:
            return False
        if node % 2 or node == last:
            before, after = node_hash(each, before), node_hash(each, after)
            node, last = _up_while_even(node, last)
        else:
            after = node_hash(after, each)
        node, last = node // 2, last // 2
    return last == 0 and before == old_root and after == root


def _half(leaves: int) -> int:
    """Return the greatest power of two below a number of leaves: where a tree is split."""
    return 1 << ((leaves - 1).bit_length() - 1)


def _up_while_even(node: int, last: int) -> tuple[int, int]:
    """Skip the levels on which a last node rises without a partner."""
    while node % 2 == 0 and node != 0:
        node, last = node // 2, last // 2
    return node, last

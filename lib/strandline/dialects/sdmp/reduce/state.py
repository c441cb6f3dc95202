"""The state of a journal: its row, and the bytes whose hash is equal for equal journals."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from strandline.core.ids import namespace
from strandline.dialects.sdmp.types import Line, Profile
from strandline.dialects.sdmp.verify import Leaf, Tree, tree_of

REDUCER_VERSION: Final = "sdmp/1"


@dataclass(frozen=True, slots=True)
class NodeJournal:
    """The row of `node_journal` without its bucket, and record count and state hash (hex) of `namespace_state`."""

    namespace: str
    profile: Profile
    tip_n: int
    tip_number: str | None
    tip_line: str
    tip_hash: str
    leaves: tuple[Leaf, ...]
    fork_count: int
    common_n: int
    line_count: int
    pair_count: int
    duplicate_pairs: int
    record_count: int
    state_hash: str


def leaves(node: str, accepted: Mapping[bytes, Line]) -> tuple[Leaf, ...]:
    """Return the lines without a successor, by n descending, then record id ascending; the first is the tip.

    Raises:
        ValueError: as `n_of`.
    """
    return tree_of(node, accepted).leaves()


def state_bytes(node: str, accepted: Mapping[bytes, Line]) -> bytes:
    """Return the canonical state: line count, then the leaves. The id of a leaf commits to its whole path.

    Form: `strandline/sdmp/state/1` LF namespace LF |A| LF, then for each leaf, in order, n SP hex(record id) LF.

    Raises:
        ValueError: as `n_of`.
    """
    tree = tree_of(node, accepted)
    return state_bytes_of(node, len(tree.links), tree.leaves())


def state_bytes_of(node: str, line_count: int, leaves: Iterable[Leaf]) -> bytes:
    """Return the canonical state from the number of lines and the ordered leaves."""
    head = ["strandline/sdmp/state/1", namespace("node", node), str(line_count)]
    lines = [*head, *(f"{leaf.n} {leaf.record_id.hex()}" for leaf in leaves)]
    return "".join(line + "\n" for line in lines).encode("ascii")


def state_hash(node: str, accepted: Mapping[bytes, Line]) -> str:
    """Return SHA-256 of the state bytes, in hex: equal for equal accepted sets on every machine.

    Raises:
        ValueError: as `n_of`.
    """
    tree = tree_of(node, accepted)
    return state_hash_of(node, len(tree.links), tree.leaves())


def state_hash_of(node: str, line_count: int, leaves: Iterable[Leaf]) -> str:
    """Return the state hash, in hex, from the number of lines and the ordered leaves."""
    return hashlib.sha256(state_bytes_of(node, line_count, leaves)).hexdigest()


def journal(node: str, accepted: Mapping[bytes, Line]) -> NodeJournal:
    """Return the row of a journal: tip, leaves, forks and counts.

    The tip is the end of the longest branch, since a branch that starts with an altered line never grows. Of branches
    of equal length the least record id wins. `common_n` is the last position before the first fork. `accepted` may
    omit line 1; it is counted.

    Raises:
        ValueError: as `n_of`.
    """
    return journal_of(node, tree_of(node, accepted))


def journal_of(node: str, tree: Tree) -> NodeJournal:
    """Return the row of a journal from the tree of its lines, as `journal` does."""
    ends, forked = tree.leaves(), tree.forked()
    tip = tree.links[ends[0].record_id]
    pairs = {
        (link.line.author, link.line.resource) for link in tree.links.values() if link.number is not None
    }
    return NodeJournal(
        namespace=namespace("node", node),
        profile=tree.root.line.profile,
        tip_n=ends[0].n,
        tip_number=tip.number,
        tip_line=tip.raw.decode("ascii"),
        tip_hash=tip.hash,
        leaves=ends,
        fork_count=len(forked),
        common_n=tree.n[forked[0].record_id] if forked else ends[0].n,
        line_count=len(tree.links),
        pair_count=len(pairs),
        duplicate_pairs=len(tree.links) - 1 - len(pairs),
        record_count=len(tree.links),
        state_hash=state_hash_of(node, len(tree.links), ends),
    )

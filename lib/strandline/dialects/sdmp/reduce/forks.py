"""Forks of a journal: lines with several successors, with evidence that a third party can check."""

from collections.abc import Container, Iterable, Mapping

from strandline.core.equivocation import MAX_MEMBERS, Context, Equivocation, equivocation
from strandline.core.ids import namespace
from strandline.dialects.sdmp.types import DIALECT, Line, record_id
from strandline.dialects.sdmp.verify import Link, Tree, tree_of

__all__ = ["MAX_MEMBERS", "Equivocation", "fork", "forks"]


def forks(node: str, accepted: Mapping[bytes, Line]) -> tuple[Equivocation, ...]:
    """Return one row per line with several accepted successors, by n, then record id.

    Not attributable: lines are unsigned, so the node or whoever transported them may have made both histories.

    Raises:
        ValueError: as `n_of`.
    """
    return forks_of(node, tree_of(node, accepted))


def forks_of(node: str, tree: Tree, new: Container[bytes] | None = None) -> tuple[Equivocation, ...]:
    """Return the rows of `forks` from the tree of the lines; with `new` only of lines with a successor in it.

    `new` contains record ids.
    """
    found = ((forked, _raws(tree.children[forked.hash])) for forked in tree.forked())
    return tuple(
        fork(node, forked.raw, followers)
        for forked, followers in found
        if new is None or any(id_ in new for id_ in followers)
    )


def _raws(links: Iterable[Link]) -> dict[bytes, bytes]:
    return {link.record_id: link.raw for link in links}


def fork(node: str, predecessor: bytes, followers: Mapping[bytes, bytes]) -> Equivocation:
    """Return the row of one forked line from its successors, by record id: at least two.

    The position is the number that all successors carry, since n is not unique across branches.
    """
    position = followers[min(followers)].partition(b"@")[0].decode("ascii")
    return equivocation(
        namespace("node", node),
        DIALECT,
        "SDMP_FORK",
        node,
        position,
        records=followers,
        attributable=False,
        context=(Context("predecessor", record_id(predecessor), predecessor),),
    )

"""Synchronisation with peers: pairs that are in their journals but not in a local journal."""

from collections.abc import Collection, Container, Iterable, Mapping

from strandline.dialects.sdmp.author.writer import next_commit
from strandline.dialects.sdmp.types import Pair
from strandline.dialects.sdmp.verify import Tree, tree_of_lines


def new_pairs(
    journal: Tree, pending: Container[Pair], peers: Mapping[str, Tree], authors: Collection[str] | None
) -> tuple[Pair, ...]:
    """Return the pairs in journals of peers that are neither in `journal` nor pending, in writing order.

    All branches count. Only pairs of `authors` are taken; None: of any author. The order is by the least (peer, n,
    record id) of each pair: the order of a node that asks its peers one by one, in byte order of their fingerprints,
    and appends each pair it does not know.
    """
    recorded = journal.pairs()
    found: dict[Pair, tuple[str, int, bytes]] = {}
    for peer in sorted(peers):
        for pair, (n, record_id) in peers[peer].pairs().items():
            taken = authors is None or pair[0] in authors
            if taken and pair not in recorded and pair not in pending and pair not in found:
                found[pair] = (peer, n, record_id)
    return tuple(sorted(found, key=lambda pair: found[pair]))


def sync_pairs(
    journal: Tree,
    pending: Collection[Pair],
    peers: Mapping[str, Tree],
    authors: Collection[str] | None,
) -> tuple[Pair, ...]:
    """Return the pairs that a synchronisation appends to `journal`: the pending ones, then, in 0.9, the new ones.

    0.9 appends first and requests the resource afterwards. 0.12 forbids writing a pair before its resource was
    received and verified, so a new pair stays wanted until the node announces it.
    """
    if journal.root.line.profile == "0.12":
        return tuple(pending)
    return (*pending, *new_pairs(journal, pending, peers, authors))


def sync(
    own: Iterable[bytes],
    pending: Iterable[Pair],
    peers: Mapping[str, Iterable[bytes]],
    authors: Collection[str] | None = None,
) -> list[bytes]:
    """Return the lines that a synchronisation appends to a journal (node journal rules, section 6.4).

    `own` are the accepted lines of the local journal: line 1 first, then in any order. `pending` are the pairs of
    held resources that are not written yet, in writing order. `peers` are the accepted lines of each peer by its
    fingerprint. `authors` as in `new_pairs`.

    Raises:
        ValueError: `own` does not start with line 1, or lines are not an accepted set of their node.
    """
    lines = list(own)
    first = lines[0] if lines else b""
    journal = tree_of_lines(first.decode("ascii", "replace"), lines)
    trees = {peer: tree_of_lines(peer, accepted) for peer, accepted in peers.items()}
    pairs = sync_pairs(journal, tuple(pending), trees, authors)
    return list(next_commit(journal, pairs, len(pairs)))

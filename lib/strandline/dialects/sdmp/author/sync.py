"""Synchronisation with peers: the pairs that their journals name and an own journal lacks."""

from collections.abc import Collection, Container, Iterable, Mapping

from strandline.dialects.sdmp.author.writer import next_commit
from strandline.dialects.sdmp.types import Pair
from strandline.dialects.sdmp.verify import Tree, tree_of_lines


def new_pairs(
    own: Tree, pending: Container[Pair], peers: Mapping[str, Tree], authors: Collection[str] | None = None
) -> tuple[Pair, ...]:
    """Return the pairs that peers name and that are neither on a line of `own` nor pending, in the order of writing.

    All branches count. `authors` are those whose pairs are taken; None: anyone's. Per pair its least (peer, n,
    record id) decides: what a node gets that asks its peers one by one, in byte order of their fingerprints, and
    appends each entry that it does not know.
    """
    recorded = own.pairs()
    found: dict[Pair, tuple[str, int, bytes]] = {}
    for peer in sorted(peers):
        for pair, (n, record_id) in peers[peer].pairs().items():
            taken = authors is None or pair[0] in authors
            if taken and pair not in recorded and pair not in pending and pair not in found:
                found[pair] = (peer, n, record_id)
    return tuple(sorted(found, key=lambda pair: found[pair]))


def sync_pairs(
    own: Tree,
    pending: Collection[Pair],
    peers: Mapping[str, Tree],
    authors: Collection[str] | None = None,
) -> tuple[Pair, ...]:
    """Return the pairs that a synchronisation appends to `own`: what is pending, then, in 0.9, what is new.

    0.9 appends first and asks for the resource afterwards. 0.12 forbids writing before the resource was received
    and verified: there a new pair stays wanted until it is announced.
    """
    if own.root.line.profile == "0.12":
        return tuple(pending)
    return (*pending, *new_pairs(own, pending, peers, authors))


def sync(
    own: Iterable[bytes],
    pending: Iterable[Pair],
    peers: Mapping[str, Iterable[bytes]],
    authors: Collection[str] | None = None,
) -> list[bytes]:
    """Return the lines that a synchronisation appends to a journal.

    `own` are its accepted lines, line 1 first, then in any order; `pending` what it holds and has not written, in
    order; `peers` the accepted lines of each peer by its fingerprint; `authors` as `new_pairs`.

    Raises:
        ValueError: `own` does not begin with line 1, or lines are no accepted set of their node.
    """
    lines = list(own)
    first = lines[0] if lines else b""
    journal = tree_of_lines(first.decode("ascii", "replace"), lines)
    trees = {peer: tree_of_lines(peer, accepted) for peer, accepted in peers.items()}
    pairs = sync_pairs(journal, tuple(pending), trees, authors)
    return list(next_commit(journal, pairs, len(pairs)))

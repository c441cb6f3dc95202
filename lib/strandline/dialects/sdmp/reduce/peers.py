"""What local nodes know of their peers: rows of `peer_status` and `wanted_resource`, and the resulting requests."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from strandline.core.ids import namespace
from strandline.dialects.sdmp.codec import REQUEST_LIMIT, Request
from strandline.dialects.sdmp.types import JournalRequest, Line, LocalNode, Pair, ResourceRequest
from strandline.dialects.sdmp.verify import Tree, tree_of

Journals = Mapping[str, Mapping[bytes, Line]]
"""Accepted lines of each node by record id; a node without lines may be absent."""


@dataclass(frozen=True, slots=True)
class PeerStatus:
    """A row of `peer_status` without its bucket: what a local node knows of a peer's journal, and what it lacks."""

    namespace: str
    peer: str
    user_fp: str
    last_known_n: int
    last_known_number: str | None
    last_known_line: str
    last_known_hash: str
    recorded_n: int
    unrecorded: int
    deferred_lines: int
    diverged: bool


@dataclass(frozen=True, slots=True)
class WantedResource:
    """A row of `wanted_resource` without its bucket: a resource that a local node wants but does not hold."""

    namespace: str
    author_fp: str
    resource_id: str
    named_by: tuple[str, ...]
    recorded: bool


def peer_statuses(local: LocalNode, journals: Journals, waiting: Mapping[str, int]) -> tuple[PeerStatus, ...]:
    """Return the row of each peer of a local node, by peer; `waiting` counts deferred lines by node.

    `recorded_n` is the greatest m such that the local journal, on any branch, has the pairs of lines 2 to m of the
    peer's trunk. `unrecorded` counts the pairs on all branches of the peer that the local journal lacks. Pairs that
    the node's `record` excludes do not count.

    Raises:
        ValueError: lines are not an accepted set of their node.
    """
    recorded = _tree(local.node, journals).pairs()
    return tuple(
        _status(local, peer, user, _tree(peer, journals), recorded, waiting.get(peer, 0))
        for peer, user in local.peers.items()
    )


def _tree(node: str, journals: Journals) -> Tree:
    return tree_of(node, journals.get(node, {}))


def _status(
    local: LocalNode, peer: str, user: str, journal: Tree, recorded: Collection[Pair], deferred_lines: int
) -> PeerStatus:
    authors = local.authors

    def lacks(pair: Pair | None) -> bool:
        return pair is not None and pair not in recorded and (authors is None or pair[0] in authors)

    trunk = journal.trunk()
    tip = trunk[-1]
    gap = next((n for n, link in enumerate(trunk) if lacks(link.line.pair)), len(trunk))
    return PeerStatus(
        namespace=namespace("node", local.node),
        peer=peer,
        user_fp=user,
        last_known_n=len(trunk),
        last_known_number=tip.number,
        last_known_line=tip.raw.decode("ascii"),
        last_known_hash=tip.hash,
        recorded_n=gap,
        unrecorded=sum(map(lacks, journal.pairs())),
        deferred_lines=deferred_lines,
        diverged=deferred_lines > 0 or bool(journal.forked()),
    )


def wanted_resources(
    local: LocalNode, journals: Journals, held: Collection[Pair]
) -> tuple[WantedResource, ...]:
    """Return the resources that a local node wants: in its journal or in journals of peers, but not in `held`.

    They are sorted by pair. Of pairs that only peers name, those that the node's `record` excludes are not wanted.
    `named_by` are the peers whose journal has the pair, sorted; it may be empty.

    Raises:
        ValueError: lines are not an accepted set of their node.
    """
    recorded = _tree(local.node, journals).pairs()
    named: dict[Pair, list[str]] = {}
    for peer in local.peers:
        for pair in _tree(peer, journals).pairs():
            named.setdefault(pair, []).append(peer)
    authors = local.authors
    taken = {pair for pair in named if authors is None or pair[0] in authors}
    return tuple(
        WantedResource(namespace("node", local.node), *pair, tuple(named.get(pair, ())), pair in recorded)
        for pair in sorted(taken.union(recorded).difference(held))
    )


def requests(
    node: str, statuses: Iterable[PeerStatus], wanted: Iterable[WantedResource]
) -> tuple[Request, ...]:
    """Return a local node's requests to its peers: for lines after the last known one and for wanted resources.

    A peer with deferred lines is asked from line 1, which is named by its fingerprint. A resource is requested from
    the least peer that names it. Sorted by peer; journal requests first, then by pair.
    """
    found: list[Request] = []
    for status in statuses:
        since = None if status.deferred_lines else status.last_known_number
        found.append(JournalRequest(node, status.peer, since or status.peer, REQUEST_LIMIT))
    found += [
        ResourceRequest(node, row.named_by[0], row.author_fp, row.resource_id)
        for row in wanted
        if row.named_by
    ]
    return tuple(sorted(found, key=_order))


def _order(request: Request) -> tuple[str, bool, str, str]:
    if isinstance(request, JournalRequest):
        return request.to, False, request.since, ""
    return request.to, True, request.author, request.resource

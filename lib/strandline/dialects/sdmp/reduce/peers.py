"""What own nodes know of their peers: rows of `peer_status` and `wanted_resource`, and the requests that follow."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from strandline.core.ids import namespace
from strandline.dialects.sdmp.codec import REQUEST_LIMIT, Request
from strandline.dialects.sdmp.types import JournalRequest, Line, OwnNode, Pair, ResourceRequest
from strandline.dialects.sdmp.verify import Tree, tree_of

Journals = Mapping[str, Mapping[bytes, Line]]
"""Accepted lines of each node by record id; a node that is absent has none."""


@dataclass(frozen=True, slots=True)
class PeerStatus:
    """A row of `peer_status` (but its bucket): what an own node knows of a peer's journal, and lacks of it."""

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
    """A row of `wanted_resource` (but its bucket): a resource that an own node does not hold."""

    namespace: str
    author_fp: str
    resource_id: str
    named_by: tuple[str, ...]
    recorded: bool


def peer_statuses(own: OwnNode, journals: Journals, waiting: Mapping[str, int]) -> tuple[PeerStatus, ...]:
    """Return the row of each peer of an own node, by peer; `waiting` counts deferred lines by node.

    `recorded_n` is the greatest m so that the own journal, on any branch, has the pairs of lines 2 to m of the peer's
    trunk; `unrecorded` counts the pairs, of all its branches, that it lacks. Pairs that the node's `record` passes
    over count in neither.

    Raises:
        ValueError: lines are no accepted set of their node.
    """
    recorded = _tree(own.node, journals).pairs()
    return tuple(
        _status(own, peer, user, _tree(peer, journals), recorded, waiting.get(peer, 0))
        for peer, user in own.peers.items()
    )


def _tree(node: str, journals: Journals) -> Tree:
    return tree_of(node, journals.get(node, {}))


def _status(
    own: OwnNode, peer: str, user: str, journal: Tree, recorded: Collection[Pair], deferred_lines: int
) -> PeerStatus:
    authors = own.authors

    def lacks(pair: Pair | None) -> bool:
        return pair is not None and pair not in recorded and (authors is None or pair[0] in authors)

    trunk = journal.trunk()
    tip = trunk[-1]
    gap = next((n for n, link in enumerate(trunk) if lacks(link.line.pair)), len(trunk))
    return PeerStatus(
        namespace=namespace("node", own.node),
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


def wanted_resources(own: OwnNode, journals: Journals, held: Collection[Pair]) -> tuple[WantedResource, ...]:
    """Return what an own node has to ask for, by pair: what its journal or its peers name, less what it holds.

    Of pairs that peers alone name, those that the node's `record` passes over are not wanted. `named_by` are the
    peers whose journal names the pair, ascending; it may be empty.

    Raises:
        ValueError: lines are no accepted set of their node.
    """
    recorded = _tree(own.node, journals).pairs()
    named: dict[Pair, list[str]] = {}
    for peer in own.peers:
        for pair in _tree(peer, journals).pairs():
            named.setdefault(pair, []).append(peer)
    authors = own.authors
    taken = {pair for pair in named if authors is None or pair[0] in authors}
    return tuple(
        WantedResource(namespace("node", own.node), *pair, tuple(named.get(pair, ())), pair in recorded)
        for pair in sorted(taken.union(recorded).difference(held))
    )


def requests(
    node: str, statuses: Iterable[PeerStatus], wanted: Iterable[WantedResource]
) -> tuple[Request, ...]:
    """Return what an own node asks of its peers: of each the lines after the last known, then what is wanted.

    A peer with waiting lines is asked again from line 1, whose stand-in is its fingerprint. A resource is asked of
    the least peer that names it. Ordered by peer, journal requests first, then by pair.
    """
    asked: list[Request] = []
    for status in statuses:
        since = None if status.deferred_lines else status.last_known_number
        asked.append(JournalRequest(node, status.peer, since or status.peer, REQUEST_LIMIT))
    asked += [
        ResourceRequest(node, row.named_by[0], row.author_fp, row.resource_id)
        for row in wanted
        if row.named_by
    ]
    return tuple(sorted(asked, key=_order))


def _order(request: Request) -> tuple[str, bool, str, str]:
    if isinstance(request, JournalRequest):
        return request.to, False, request.since, ""
    return request.to, True, request.author, request.resource

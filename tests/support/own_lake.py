"""A lake in plain Python that writes the journals of own nodes: what tables must hold after ingest and sync."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from strandline.core.ids import namespace
from strandline.dialects.sdmp import author
from strandline.dialects.sdmp.codec import parse_requests, record_id, render_requests
from strandline.dialects.sdmp.reduce import (
    PeerStatus,
    WantedResource,
    peer_statuses,
    requests,
    wanted_resources,
)
from strandline.dialects.sdmp.types import Announcement, Line, LocalNode, NodeResource, Pair, Unreadable
from strandline.dialects.sdmp.verify import Judgement, Tree, judge_announcement, tree_of_lines
from support.reference import Counts, ReferenceLake

MAX_COMMITS = 200


@dataclass(frozen=True, slots=True)
class Written:
    """What one run counted, how many lines it wrote by node, and the codes of the nodes whose writer stopped."""

    counts: Counts
    lines: Mapping[str, int]
    stopped: Mapping[str, tuple[str, ...]]


class OwnLake(ReferenceLake):
    """A reference lake with own nodes; `limit` lines a node and commit."""

    def __init__(
        self, own: Iterable[LocalNode], *, strict: bool = False, limit: int = author.MAX_LINES_PER_COMMIT
    ) -> None:
        super().__init__(strict)
        self.own = {node.node: node for node in own}
        self.resources: dict[author.ResourceKey, NodeResource] = {}
        self.limit = limit
        self._landing: list[NodeResource] = []
        self._restore: Collection[str] = ()

    def run(
        self, files: Mapping[str, bytes], *, restore: Collection[str] = (), force: Collection[str] = ()
    ) -> Written:
        """Ingest files with own nodes: judge, land what is announced or restored, write what is pending."""
        return self._written(self.take(files, restore=restore), force, self.pending_of)

    def take(self, files: Mapping[str, bytes], *, restore: Collection[str] = ()) -> Counts:
        """The first part of `run`: judge and land, and write nothing."""
        self._restore, self._landing = restore, []
        counts = self.ingest(files)
        new = author.new_resources(self.resources, self._landing)
        self.resources.update(new)
        told = sum(row.origin == "announced" for row in self._landing)
        fresh = sum(row.origin == "announced" for row in new.values())
        return counts + Counts(new=fresh, known=told - fresh)

    def sync(self, *, force: Collection[str] = ()) -> Written:
        """Append to each own journal what its peers name; peers are read as they are at the start."""
        return self._written(Counts(), force, self.pairs_to_sync())

    def pending_of(self, node: str, journal: Tree) -> tuple[Pair, ...]:
        """The pairs that the node holds and its journal lacks, in order."""
        rows = [row for row in self.resources.values() if row.namespace == namespace("node", node)]
        return author.pending(rows, journal.pairs())

    def pairs_to_sync(self) -> Callable[[str, Tree], tuple[Pair, ...]]:
        """What `sync` writes, from the peers as they are now."""
        start = {peer: self.tree(peer) for own in self.own.values() for peer in own.peers}

        def pairs(node: str, journal: Tree) -> tuple[Pair, ...]:
            own = self.own[node]
            peers = {peer: start[peer] for peer in own.peers}
            return author.sync_pairs(journal, self.pending_of(node, journal), peers, own.authors)

        return pairs

    def writer(self, node: str, pairs: Callable[[str, Tree], tuple[Pair, ...]]) -> Iterator[int]:
        """Write commit by commit; yields between reading the tip and each commit what was written so far.

        A commit that finds the journal grown since adds nothing; the writer starts again from the new tip.
        """
        count = 0
        for _ in range(MAX_COMMITS):
            journal = self.tree(node)
            lines = author.next_commit(journal, pairs(node, journal), self.limit)
            yield count
            if not lines:
                return
            if set(self.tree(node).links) == set(journal.links):
                self._add(node, lines)
                count += len(lines)
        raise AssertionError("the writer always finds something to write")

    def decisions(self, force: Collection[str] = ()) -> list[author.WriterDecision]:
        """Which own nodes may be written on."""
        return [self._decision(node, node in force) for node in sorted(self.own)]

    def tree(self, node: str) -> Tree:
        """The journal of a node as it is now."""
        return tree_of_lines(node, self._lines.get(node, {}).values())

    def tip_hash(self, node: str) -> str:
        """H(tip)."""
        return self.tree(node).trunk()[-1].hash

    def peer_statuses(self, node: str) -> tuple[PeerStatus, ...]:
        """The rows of `peer_status` of an own node."""
        deferred = [row.namespace for row in self.rows("deferred")]
        waiting = {peer: deferred.count(namespace("node", peer)) for peer in self.own[node].peers}
        return peer_statuses(self.own[node], self._journals(), waiting)

    def wanted(self, node: str) -> tuple[WantedResource, ...]:
        """The rows of `wanted_resource` of an own node."""
        held = {row.pair for row in self.resources.values() if row.namespace == namespace("node", node)}
        return wanted_resources(self.own[node], self._journals(), held)

    def requests(self) -> bytes:
        """The request file of all own nodes."""
        asked = [
            request
            for node in sorted(self.own)
            for request in requests(node, self.peer_statuses(node), self.wanted(node))
        ]
        return render_requests(asked)

    def answers(self, request_file: bytes, most_lines: int = 1_000_000) -> author.Answers:
        """What this lake answers to a request file."""
        trunks = {node: [link.raw for link in self.tree(node).trunk()] for node in self.own}
        return author.answers(parse_requests(request_file), trunks, most_lines)

    def _journals(self) -> dict[str, dict[bytes, Line]]:
        return {node: self._accepted(node) for node in self.nodes}

    def _decision(self, node: str, forced: bool) -> author.WriterDecision:
        quarantined = [
            record_id(row.raw)
            for row in self.quarantine.values()
            if row.namespace == namespace("node", node)
            and (row.status == "deferred" or "OWN_LINE_NOT_HELD" in row.reasons)
        ]
        journal = self.tree(node)
        return author.decide(
            node,
            leaf_count=len(journal.leaves()),
            quarantined=quarantined,
            stored=journal.links,
            forced=forced,
        )

    def _written(
        self, counts: Counts, force: Collection[str], pairs: Callable[[str, Tree], tuple[Pair, ...]]
    ) -> Written:
        decisions = self.decisions(force)
        lines = {each.node: max(self.writer(each.node, pairs)) for each in decisions if each.writes}
        stopped = {each.node: each.codes for each in decisions if not each.writes}
        return Written(counts, {node: count for node, count in lines.items() if count}, stopped)

    def _add(self, node: str, lines: Iterable[bytes]) -> None:
        journal = tree_of_lines(node, [*(link.raw for link in self.tree(node).links.values()), *lines])
        self._n[node] = dict(journal.n)
        self._lines[node] = {id_: link.raw for id_, link in journal.links.items()}
        self._states.pop(node, None)

    def _announced(self, frame: Announcement, content: bytes, offset: int) -> Counts:
        end = content.find(b"\n", offset)
        raw = content[offset : None if end < 0 else end]
        counts = Counts()
        for pos, judged in enumerate(judge_announcement(frame, self.own, strict=self.strict)):
            if isinstance(judged, Unreadable):
                counts += self._reject(judged)
                continue
            counts += Counts(read=1)
            row = author.announced_resource(
                frame.node, judged, ingest_no=self._ingest_no, seq=frame.seq, frame=raw,
                frame_no=content.count(b"\n", 0, offset), pos=pos,
            )  # fmt: skip
            self._landing.append(row)
        return counts

    @property
    def _ingest_no(self) -> int:
        return 1 + max((row.ingest_no for row in self.resources.values()), default=0)

    def _flags(self, node: str) -> dict[str, bool]:
        return {"own": node in self.own, "restore": node in self._restore}

    def _judged(self, node: str, judgement: Judgement) -> None:
        if node not in self._restore:
            return
        delivered = {delivery.raw for delivery in judgement.verdicts if delivery.status == "accepted"}
        before = self._lines.get(node, {})
        journal = tree_of_lines(node, judgement.lines.values())
        for id_, link in journal.links.items():
            if link.raw in delivered or id_ not in before:
                row = author.restored_resource(node, link.line, journal.n[id_], ingest_no=self._ingest_no)
                self._landing += [] if row is None else [row]

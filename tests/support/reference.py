"""A lake in plain Python: what the tables must hold after any number of ingests. Spark is compared with it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from strandline.core.hashing import quarantine_id
from strandline.core.ids import namespace
from strandline.core.verdict import Evidence, encode_evidence
from strandline.dialects.sdmp.codec import parse_line, parse_source
from strandline.dialects.sdmp.reduce import Equivocation, NodeJournal, forks, journal
from strandline.dialects.sdmp.types import DIALECT, Announcement, Frame, Line, Unreadable
from strandline.dialects.sdmp.verify import Delivery, Judgement, judge, refused_announcement


@dataclass(frozen=True, slots=True)
class Counts:
    """What one ingest counted. read = new + known + rejected + deferred; readmitted lines were not read."""

    read: int = 0
    new: int = 0
    known: int = 0
    rejected: int = 0
    deferred: int = 0
    readmitted: int = 0
    since_mismatch: int = 0
    shorter_journals: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """A rejected or deferred record. `evidence` is the least of all texts that its deliveries gave."""

    quarantine_id: bytes
    namespace: str | None
    status: str
    reasons: tuple[str, ...]
    raw: bytes
    waits_for: tuple[str, ...]
    evidence: str


@dataclass(frozen=True, slots=True)
class NamespaceState:
    """A journal as the tables hold it: n and the line by record id, its row and its forks."""

    node: str
    n: Mapping[bytes, int]
    lines: Mapping[bytes, bytes]
    journal: NodeJournal
    forks: tuple[Equivocation, ...]

    @property
    def state_hash(self) -> str:
        return self.journal.state_hash


class ReferenceLake:
    """Ingests files and keeps what the tables would; `strict` as `init --strict`."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.quarantine: dict[bytes, QuarantineRow] = {}
        self._n: dict[str, Mapping[bytes, int]] = {}
        self._lines: dict[str, Mapping[bytes, bytes]] = {}
        self._states: dict[str, NamespaceState] = {}

    def ingest(self, files: Mapping[str, bytes]) -> Counts:
        """Judge decompressed files, in ascending order of name, as one run."""
        frames: dict[str, list[Frame]] = {}
        counts = Counts()
        for name in sorted(files):
            content = parse_source(files[name], strict=self.strict)
            for damage in content.damages:
                counts += self._reject(damage)
            for offset, frame in content.frames:
                if isinstance(frame, Frame):
                    frames.setdefault(frame.node, []).append(frame)
                else:
                    counts += self._announced(frame, files[name], offset)
        for node, of_node in frames.items():
            counts += self._judge(node, of_node)
        return counts

    def state(self, node: str) -> NamespaceState:
        """Return the state of a node with at least one accepted line."""
        if node not in self._states:
            accepted = self._accepted(node)
            self._states[node] = NamespaceState(
                node, self._n[node], self._lines[node], journal(node, accepted), forks(node, accepted)
            )
        return self._states[node]

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes with at least one accepted line, ascending."""
        return tuple(sorted(self._lines))

    @property
    def namespaces(self) -> dict[str, NamespaceState]:
        """Every state by namespace."""
        return {namespace("node", node): self.state(node) for node in self.nodes}

    def rows(self, status: str) -> list[QuarantineRow]:
        """The quarantine rows with this status, by id."""
        return [row for _, row in sorted(self.quarantine.items()) if row.status == status]

    def _announced(self, frame: Announcement, content: bytes, offset: int) -> Counts:
        """Take an announcement, whose frame begins at `offset` of its file: here no node is own."""
        return sum(map(self._reject, refused_announcement(frame)), Counts())

    def _flags(self, node: str) -> dict[str, bool]:
        """What `judge` is told of a node besides its frames."""
        return {}

    def _judged(self, node: str, judgement: Judgement) -> None:
        """Called when the lines of a judgement are about to be kept."""

    def _judge(self, node: str, frames: list[Frame]) -> Counts:
        where = namespace("node", node)
        waiting = {
            row.raw: id_
            for id_, row in self.quarantine.items()
            if row.namespace == where and row.status == "deferred"
        }
        held = self._lines.get(node, {}).values()
        judgement = judge(node, frames, held, waiting=waiting, strict=self.strict, **self._flags(node))
        self._judged(node, judgement)
        if judgement.lines:
            self._n[node], self._lines[node] = judgement.accepted, judgement.lines
            self._states.pop(node, None)
        for raw in set(judgement.lines.values()) & set(waiting):
            del self.quarantine[waiting[raw]]
        for delivery in judgement.verdicts:
            if delivery.status != "accepted":
                self._keep(where, delivery)
        return Counts(*(getattr(judgement, f.name) for f in fields(Counts)))

    def _accepted(self, node: str) -> dict[bytes, Line]:
        accepted = {}
        for id_, raw in self._lines[node].items():
            line = parse_line(raw, "0.9" if len(node) == 64 else "0.12")
            assert isinstance(line, Line)
            accepted[id_] = line
        return accepted

    def _reject(self, damage: Unreadable) -> Counts:
        where = None if damage.node is None else namespace("node", damage.node)
        self._put(where, "rejected", damage.reasons, damage.raw, (), damage.evidence)
        return Counts(read=1, rejected=1)

    def _keep(self, where: str, delivery: Delivery) -> None:
        self._put(
            where, delivery.status, delivery.reasons, delivery.raw, delivery.waits_for, delivery.evidence
        )

    def _put(
        self,
        where: str | None,
        status: str,
        reasons: tuple[str, ...],
        raw: bytes,
        waits_for: tuple[str, ...],
        evidence: Evidence,
    ) -> None:
        id_ = quarantine_id(DIALECT, where, status, reasons, raw)
        text = encode_evidence(evidence)
        if id_ in self.quarantine:
            # Not the first: then the row would tell in which order the files came.
            text = min(text, self.quarantine[id_].evidence)
        self.quarantine[id_] = QuarantineRow(id_, where, status, reasons, raw, waits_for, text)


def outcome_of(files: Mapping[str, bytes]) -> tuple[Counts, dict[str, str]]:
    """What one ingest of `files` counts, and the state hashes after it, in hex by namespace."""
    lake = ReferenceLake()
    counts = lake.ingest(files)
    return counts, {name: state.state_hash for name, state in lake.namespaces.items()}

"""Which records a set of documents admits: the reference that Spark's admission is compared with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from strandline.core.judgement import Counts as RunCounts
from strandline.core.judgement import QuarantineRow
from strandline.dialects.ipfslog.types import (
    Document,
    Entry,
    HeadClaim,
    IdentityRecord,
    JsonDocument,
    Manifest,
    Profile,
    Unreadable,
)
from strandline.dialects.ipfslog.verify.checks import Checked, check_block
from strandline.dialects.ipfslog.verify.documents import Foreign, Refused, claimed_digest, read_element
from strandline.dialects.ipfslog.verify.entries import Verdict, conclude
from strandline.dialects.ipfslog.verify.identities import KnownIdentity, verify_identity


@dataclass(frozen=True, slots=True)
class AcceptedRecords:
    """The result of earlier runs: accepted records by id, digests of pruned entries, blocks of waiting entries."""

    entries: Mapping[bytes, Entry] = field(default_factory=dict)
    identities: Mapping[bytes, KnownIdentity] = field(default_factory=dict)
    manifests: Mapping[bytes, Manifest] = field(default_factory=dict)
    waiting: Mapping[bytes, bytes] = field(default_factory=dict)
    pruned: frozenset[bytes] = frozenset()


@dataclass(slots=True)
class Counts(RunCounts):
    """The counts of one run, and those of blocks, identities and claims, which are not part of the sum."""

    foreign_blocks: int = 0
    identities_embedded: int = 0
    identity_verifications: int = 0
    claims_known: int = 0
    claims_missing: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """All accepted records after a run, and its quarantine rows and counts.

    `quarantine` has rows of the run's documents and of waiting entries that were refuted.
    """

    accepted: AcceptedRecords
    quarantine: tuple[QuarantineRow, ...]
    counts: Counts


def judge(
    documents: Iterable[Document], accepted: AcceptedRecords | None = None, profile: Profile = "strict"
) -> Judgement:
    """Return which records the documents of one run admit. The accepted set depends only on the set of documents.

    - Identities and manifests are records of their own; embedded identities of accepted entries become rows too.
    - A core2 entry waits until its identity is a row, in this run or a later one, and is judged then.
    - A digest that is accepted or was pruned is known. Each new identity is verified once.
    """
    run = _Run(accepted or AcceptedRecords(), profile)
    for document in documents:
        run.read(document)
    return run.end()


class _Run:
    def __init__(self, accepted: AcceptedRecords, profile: Profile) -> None:
        self.before = accepted
        self.profile: Profile = profile
        self.entries = dict(accepted.entries)
        self.identities = dict(accepted.identities)
        self.manifests = dict(accepted.manifests)
        self.waiting = dict(accepted.waiting)
        self.rows: list[QuarantineRow] = []
        self.counts = Counts()
        self.claims: list[bytes | None] = []
        self.verified: dict[bytes, KnownIdentity] = {}
        self.checked: list[tuple[Checked, bytes]] = []

    def read(self, document: Document) -> None:
        """Classify a document; entries are concluded later, when all identities of the run are known."""
        if isinstance(document, HeadClaim):
            self.claims.append(document.digest)
            return
        element = read_element(document, self.profile)
        if not isinstance(document, Unreadable) and document.is_head:
            self.claims.append(claimed_digest(document) or _digest_of(element))
        if isinstance(element, Foreign):
            self.counts.foreign_blocks += 1
            return
        self.counts.read += 1
        if isinstance(element, Refused):
            self._reject(element)
        elif isinstance(element, IdentityRecord):
            self._count(is_new=self._add_identity(element))
        elif isinstance(element, Manifest):
            self._count(is_new=element.record_id not in self.manifests)
            self.manifests[element.record_id] = element
            self.claims += element.heads
        else:
            slice_ = document.raw if isinstance(document, JsonDocument) else b""
            self.checked.append((element, element.block or slice_))

    def end(self) -> Judgement:
        """Conclude the entries: first those with embedded identities, since core2 entries may name one of these."""
        for checked, raw in self.checked:
            if checked.identity is not None:
                self._conclude(checked, raw)
        admitted = self._readmit()
        for checked, raw in self.checked:
            if checked.identity is None:
                self._conclude(checked, raw)
        self.counts.readmitted = len(admitted)
        for digest in self.claims:
            if digest in self.entries or digest in self.before.pruned:
                self.counts.claims_known += 1
            else:
                self.counts.claims_missing += 1
        accepted = AcceptedRecords(
            self.entries, self.identities, self.manifests, self.waiting, self.before.pruned
        )
        return Judgement(accepted, tuple(self.rows), self.counts)

    def _conclude(self, checked: Checked, raw: bytes) -> None:
        digest, identity = checked.identity_digest, checked.identity
        if identity is not None and digest is not None and digest not in self.verified:
            self.verified[digest] = self.identities.get(digest) or verify_identity(identity)
        verdict = conclude(checked, self.identities if identity is None else self.verified)
        if verdict.entry is not None:
            record_id = verdict.entry.record_id
            self._count(is_new=record_id not in self.entries and record_id not in self.before.pruned)
            self._admit(verdict.entry, identity)
        elif verdict.status == "deferred":
            self.counts.deferred += 1
            self.rows.append(_row(verdict, raw))
            self.waiting[checked.record_id or b""] = raw
        else:
            self.counts.rejected += 1
            self.rows.append(_row(verdict, raw))

    def _readmit(self) -> list[bytes]:
        """Judge the waiting entries whose identity is a row now; refuted ones are in no count."""
        admitted = []
        for record_id, block in self.before.waiting.items():
            verdict = conclude(check_block(block, None, self.profile), self.identities)
            if verdict.status != "deferred":
                del self.waiting[record_id]
                if verdict.entry is None:
                    self.rows.append(_row(verdict, block))
                else:
                    admitted.append(record_id)
                    self._admit(verdict.entry, None)
        return admitted

    def _admit(self, entry: Entry, identity: IdentityRecord | None) -> None:
        if entry.record_id in self.before.pruned:
            return
        self.entries[entry.record_id] = entry
        if identity is not None and self._add_identity(identity):
            self.counts.identities_embedded += 1

    def _add_identity(self, identity: IdentityRecord) -> bool:
        digest = identity.digest
        if digest in self.identities:
            return False
        self.identities[digest] = self.verified.get(digest) or verify_identity(identity)
        self.counts.identity_verifications += 1
        return True

    def _reject(self, refused: Refused) -> None:
        self.counts.rejected += 1
        self.rows.append(
            QuarantineRow(
                "rejected", refused.reasons, refused.raw, None, refused.record_id, (), refused.evidence
            )
        )

    def _count(self, *, is_new: bool) -> None:
        if is_new:
            self.counts.new += 1
        else:
            self.counts.known += 1


def _row(verdict: Verdict, raw: bytes) -> QuarantineRow:
    return QuarantineRow(
        verdict.status,
        verdict.reasons,
        raw,
        verdict.namespace,
        verdict.record_id,
        verdict.waits_for,
        verdict.evidence,
    )


def _digest_of(element: object) -> bytes | None:
    return element.record_id if isinstance(element, Checked | Manifest | Refused) else None

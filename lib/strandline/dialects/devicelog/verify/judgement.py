"""Which entries the records of a run admit: the reference that Spark's admission is compared with."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from strandline.core.judgement import Counts, QuarantineRow, Verdict
from strandline.dialects.devicelog.codec import Document, block_of, line_documents
from strandline.dialects.devicelog.types import Entry, Profile, Refused
from strandline.dialects.devicelog.verify.references import SsbProfile, judge_references
from strandline.dialects.devicelog.verify.signatures import signature_findings

Key: TypeAlias = tuple[str, bytes]
"""Namespace and id of an entry."""


@dataclass(frozen=True, slots=True)
class HeldEntries:
    """The result of earlier runs: accepted entries, and waiting copies by the SHA-256 of their one spelling."""

    entries: Mapping[Key, Entry] = field(default_factory=dict)
    waiting: Mapping[bytes, Entry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """All accepted and waiting entries after a run, its quarantine rows and its counts.

    `quarantine` has rows of the run's rejected records and of waiting entries that were refuted, and one row for each
    entry that waits now, whenever it came.
    """

    held: HeldEntries
    quarantine: tuple[QuarantineRow, ...]
    counts: Counts

    @property
    def accepted(self) -> tuple[Entry, ...]:
        """All accepted entries, by namespace and id."""
        return tuple(entry for _, entry in sorted(self.held.entries.items()))


def judge(
    lines: Iterable[bytes],
    held: Iterable[Entry] = (),
    ssb_profile: SsbProfile = "strict",
    hmac_key: bytes | None = None,
) -> Judgement:
    """Return the entries that these lines, of either profile, admit in addition to the `held` ones."""
    documents = (document for line in lines for document in line_documents(line))
    entries = {(entry.namespace, entry.record_id): entry for entry in held}
    return judge_documents(documents, HeldEntries(entries), ssb_profile, hmac_key)


def judge_documents(
    documents: Iterable[Document],
    held: HeldEntries | None = None,
    ssb_profile: SsbProfile = "strict",
    hmac_key: bytes | None = None,
) -> Judgement:
    """Return which entries the records of one run admit.

    The accepted, rejected and waiting copies depend only on the set of records, not on their order or runs:
    - a copy with the id and the signature of an accepted entry is known; one with another signature is verified, and
      is known, too, if that is good, else rejected. Of good ones in one run the least signature is kept;
    - a bad copy never affects a good one with the same id.
    """
    before = held or HeldEntries()
    delivery = _delivery(documents, before, hmac_key)
    rows = delivery.refused
    counts = Counts(read=len(rows) + len(delivery.entries), rejected=len(rows))
    verdicts = delivery.bad | _verdicts(delivery.copies, before.entries, ssb_profile)
    entries, waiting = dict(before.entries), {}
    for copy, entry in sorted(delivery.copies.items(), key=lambda each: each[1].sig):
        if verdicts[copy].status == "accepted":
            entries.setdefault((entry.namespace, entry.record_id), entry)
        elif verdicts[copy].status == "deferred":
            waiting[copy] = entry
    came = set()
    for copy, entry in delivery.entries:
        came.add(copy)
        # A copy without a verdict is known.
        status = verdicts[copy].status if copy in verdicts else "accepted"
        counts.rejected += status == "rejected"
        counts.deferred += status == "deferred"
        counts.known += status == "accepted"
        if status == "rejected":
            rows.append(_row(entry, verdicts[copy]))
    rows.extend(
        _row(entry, verdicts[copy])
        for copy, entry in before.waiting.items()
        if verdicts[copy].status == "rejected" and copy not in came
    )
    rows.extend(_row(entry, verdicts[copy]) for copy, entry in waiting.items())
    inserted = entries.keys() - before.entries.keys()
    waited = {(entry.namespace, entry.record_id) for entry in before.waiting.values()}
    counts.readmitted = len(inserted & waited)
    counts.new = len(inserted) - counts.readmitted
    counts.known -= counts.new
    return Judgement(HeldEntries(entries, waiting), tuple(rows), counts)


@dataclass(frozen=True, slots=True)
class _Delivery:
    """The records of one run: quarantine rows of those that are no entry, and the entries, each by its copy, in order.

    `copies` are the waiting and the new copies with a good signature, `bad` the verdicts on those with another one.
    """

    copies: dict[bytes, Entry]
    refused: list[QuarantineRow] = field(default_factory=list)
    entries: list[tuple[bytes, Entry]] = field(default_factory=list)
    bad: dict[bytes, Verdict] = field(default_factory=dict)


def _delivery(documents: Iterable[Document], before: HeldEntries, hmac_key: bytes | None) -> _Delivery:
    """Return the records of one run; the signature of each copy that is not known is verified once."""
    found = _Delivery(dict(before.waiting))
    for document in documents:
        entry = document.found
        if isinstance(entry, Refused):
            refused = (document.reasons, document.raw, entry.namespace, entry.record_id, (), entry.evidence)
            found.refused.append(QuarantineRow("rejected", *refused))
            continue
        accepted = before.entries.get((entry.namespace, entry.record_id))
        copy = hashlib.sha256(block_of(entry)).digest()
        found.entries.append((copy, entry))
        if copy in found.copies or copy in found.bad or (accepted is not None and accepted.sig == entry.sig):
            continue
        findings = signature_findings(entry, hmac_key)
        if findings:
            found.bad[copy] = Verdict("rejected", findings)
        else:
            found.copies[copy] = entry
    return found


def _verdicts(
    copies: Mapping[bytes, Entry], accepted: Mapping[Key, Entry], ssb_profile: SsbProfile
) -> dict[bytes, Verdict]:
    """Return the verdicts on copies whose signature is good: equal for all copies of an entry."""
    new: defaultdict[tuple[str, Profile], dict[bytes, Entry]] = defaultdict(dict)
    old: defaultdict[tuple[str, Profile], list[Entry]] = defaultdict(list)
    for entry in copies.values():
        new[entry.namespace, entry.profile][entry.record_id] = entry
    for entry in accepted.values():
        old[entry.namespace, entry.profile].append(entry)
    found = {
        (place, record_id): verdict
        for place, entries in new.items()
        for record_id, verdict in judge_references(entries.values(), old[place], ssb_profile).items()
    }
    return {copy: found[(entry.namespace, entry.profile), entry.record_id] for copy, entry in copies.items()}


def _row(entry: Entry, verdict: Verdict) -> QuarantineRow:
    return QuarantineRow(
        verdict.status, verdict.reasons, block_of(entry), entry.namespace, entry.record_id, verdict.waits_for,
        verdict.evidence,
    )  # fmt: skip

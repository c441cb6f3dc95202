"""Which facts the documents of a run admit: the reference that Spark's admission is compared with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from strandline.core.judgement import Counts, QuarantineRow, Verdict
from strandline.dialects.aura.types import Document, Fact, FactDocument
from strandline.dialects.aura.verify.admission import Admission, admit


@dataclass(frozen=True, slots=True)
class AcceptedFacts:
    """The result of earlier runs: accepted and waiting facts by id."""

    facts: Mapping[bytes, Fact] = field(default_factory=dict)
    waiting: Mapping[bytes, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """All accepted facts after a run, its quarantine rows and counts, and the states of accepted operations.

    `quarantine` has rows of the run's documents and of waiting facts that were refuted.
    """

    accepted: AcceptedFacts
    quarantine: tuple[QuarantineRow, ...]
    counts: Counts
    admission: Admission


def judge(
    documents: Iterable[Document],
    accepted: AcceptedFacts | None = None,
    pins: Mapping[str, bytes] | None = None,
) -> Judgement:
    """Return which facts the documents of one run admit. The accepted set depends only on the set of facts and pins.

    A fact that is accepted already is known; one that waited and is admitted now is readmitted.
    """
    before, counts = accepted or AcceptedFacts(), Counts()
    delivered: list[Fact] = []
    rows: list[QuarantineRow] = []
    for document in documents:
        counts.read += 1
        if isinstance(document, FactDocument):
            delivered.append(document.fact)
            continue
        counts.rejected += 1
        namespace = None if document.namespace is None else document.namespace.text
        rows.append(
            QuarantineRow("rejected", document.reasons, document.raw, namespace, None, (), document.evidence)
        )
    candidates = {**before.waiting, **{fact.fact_id: fact for fact in delivered}}
    admission = admit(candidates.values(), before.facts.values(), pins)
    facts, waiting = dict(before.facts), dict(before.waiting)
    for fact in delivered:
        verdict = admission.verdicts[fact.fact_id]
        if verdict.status != "accepted":
            rows.append(_row(fact, verdict))
        _count(counts, verdict, is_new=fact.fact_id not in facts and fact.fact_id not in before.waiting)
        _place(fact, verdict, facts, waiting)
    came = {fact.fact_id for fact in delivered}
    for fact in before.waiting.values():
        verdict = admission.verdicts[fact.fact_id]
        if verdict.status == "rejected" and fact.fact_id not in came:
            rows.append(_row(fact, verdict))
        counts.readmitted += verdict.status == "accepted"
        _place(fact, verdict, facts, waiting)
    return Judgement(AcceptedFacts(facts, waiting), tuple(rows), counts, admission)


def _count(counts: Counts, verdict: Verdict, *, is_new: bool) -> None:
    if verdict.status == "rejected":
        counts.rejected += 1
    elif verdict.status == "deferred":
        counts.deferred += 1
    elif is_new:
        counts.new += 1
    else:
        counts.known += 1


def _place(fact: Fact, verdict: Verdict, facts: dict[bytes, Fact], waiting: dict[bytes, Fact]) -> None:
    if verdict.status == "deferred":
        waiting[fact.fact_id] = fact
        return
    waiting.pop(fact.fact_id, None)
    if verdict.status == "accepted":
        facts[fact.fact_id] = fact


def _row(fact: Fact, verdict: Verdict) -> QuarantineRow:
    return QuarantineRow(
        verdict.status,
        verdict.reasons,
        fact.cbor,
        fact.namespace.text,
        fact.fact_id,
        verdict.waits_for,
        verdict.evidence,
    )

"""Entries judged against the entries that they name: prev, deps, and the last entry of a removed log."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from strandline.core.ancestry import missing_parents
from strandline.core.judgement import Verdict
from strandline.core.verdict import Finding
from strandline.dialects.devicelog.types import AddStatement, Header, KeyStatement, RemoveStatement

SsbProfile: TypeAlias = Literal["strict", "weak"]
SSB_PROFILES: Final[tuple[SsbProfile, ...]] = ("strict", "weak")

NAMED: Final = 16
"""How many of the entries that an entry needs are in its evidence, the least ones."""


@dataclass(frozen=True, slots=True)
class Referent:
    """The fields that an entry needs of an entry that it names. `grants` are the logs that this one admits."""

    log: bytes
    seq: int
    lamport: int
    grants: Collection[bytes] = ()


@dataclass(frozen=True, slots=True)
class References:
    """The entries that an entry names, by role; it can be accepted once all of them are."""

    prev: bytes | None
    deps: tuple[bytes, ...] = ()
    last: bytes | None = None

    @property
    def every(self) -> tuple[bytes, ...]:
        """The distinct ids, ascending."""
        return tuple(sorted({*self.deps, *(each for each in (self.prev, self.last) if each is not None)}))


ACCEPTED: Final = Verdict("accepted")


def references_of(entry: Header, ssb_profile: SsbProfile = "strict") -> References:
    """Return the entries that an entry names. A message of a weak lake needs none: dumps without a beginning exist."""
    if entry.profile == "ssb":
        return References(entry.prev if ssb_profile == "strict" else None)
    stated = entry.statement
    return References(entry.prev, entry.deps, stated.last_id if isinstance(stated, RemoveStatement) else None)


def referent(entry: Header) -> Referent:
    """Return the fields that other entries need of an entry. Only a founder's key entry and an `add-log` admit logs."""
    match entry.statement:
        case KeyStatement(_, initial):
            grants: Collection[bytes] = frozenset(initial)
        case AddStatement(log):
            grants = (log,)
        case _:
            grants = ()
    return Referent(entry.log, entry.seq, entry.lamport, grants)


def reference_findings(
    entry: Header, references: References, held: Mapping[bytes, Referent]
) -> tuple[Finding, ...]:
    """Return the findings about an entry, given the entries that it names, all of which are in `held`.

    These hold:
    - prev is an entry of the same log (PREV_OTHER_LOG), and seq is its seq + 1 (SEQ_GAP);
    - lamport is 1 + the greatest of those of prev and deps, -1 for a founder (LAMPORT_MISMATCH);
    - the grant of a key entry admits its log (NOT_GRANTED);
    - the last entry that a `remove-log` names is the one of that log at `last_seq` (LAST_MISMATCH).
    A message has only the second: its other fields are derived.
    """
    found: list[Finding] = []
    prev = None if references.prev is None else held[references.prev]
    if prev is not None:
        if entry.profile == "native" and prev.log != entry.log:
            found.append(Finding("PREV_OTHER_LOG", {"expected": entry.log.hex(), "actual": prev.log.hex()}))
        if prev.seq + 1 != entry.seq:
            found.append(Finding("SEQ_GAP", {"expected": prev.seq + 1, "actual": entry.seq}))
    if entry.profile == "ssb":
        return tuple(found)
    deps = [held[each] for each in references.deps]
    before = [each.lamport for each in (*deps, *([] if prev is None else [prev]))]
    # The clock of a founder, who names nothing, was checked with its form.
    if before and entry.lamport != 1 + max(before):
        found.append(Finding("LAMPORT_MISMATCH", {"expected": 1 + max(before), "actual": entry.lamport}))
    if entry.kind == "key" and deps and entry.log not in deps[0].grants:
        found.append(Finding("NOT_GRANTED", {"grant": references.deps[0].hex(), "log": entry.log.hex()}))
    removal = entry.statement
    if isinstance(removal, RemoveStatement) and references.last is not None:
        last = held[references.last]
        if (last.log, last.seq) != (removal.log, removal.last_seq):
            expected = f"{removal.log.hex()} {removal.last_seq}"
            found.append(
                Finding("LAST_MISMATCH", {"expected": expected, "actual": f"{last.log.hex()} {last.seq}"})
            )
    return tuple(found)


def deferred(references: References, missing: Collection[bytes]) -> Verdict:
    """Return the verdict on an entry some of whose references are not accepted.

    The evidence lists all references of that role, accepted or not, so it does not depend on what arrived before.
    """
    roles = {
        "PREV_MISSING": () if references.prev is None else (references.prev,),
        "DEP_MISSING": references.deps,
        "LAST_MISSING": () if references.last is None else (references.last,),
    }
    lacks = set(missing)
    findings = []
    for reason, ids in roles.items():
        if not lacks.isdisjoint(ids):
            findings.append(Finding(reason, {"needs": [each.hex() for each in ids[:NAMED]]}))
    return Verdict("deferred", tuple(findings), tuple(f"record:{each.hex()}" for each in sorted(lacks)))


def judge_references(
    candidates: Iterable[Header], accepted: Iterable[Header], ssb_profile: SsbProfile = "strict"
) -> dict[bytes, Verdict]:
    """Return the verdicts on candidates of one namespace and profile by id, given its accepted entries.

    A verdict follows from the entry and the entries it descends from, never from the order. An entry named by one of
    another profile counts as absent: a namespace is of one profile.
    """
    new = {entry.record_id: entry for entry in candidates}
    old = {entry.record_id: entry for entry in accepted}
    held = {record_id: referent(entry) for record_id, entry in (new | old).items()}
    named = {record_id: references_of(entry, ssb_profile) for record_id, entry in new.items()}
    findings = {
        record_id: reference_findings(entry, named[record_id], held)
        for record_id, entry in new.items()
        if held.keys() >= set(named[record_id].every)
    }
    lacking = {
        record_id: [each for each in refs.every if each not in old] for record_id, refs in named.items()
    }
    failing = {record_id for record_id in new if findings.get(record_id)}
    verdicts = {}
    for record_id, missing in missing_parents(lacking, failing).items():
        if missing:
            verdicts[record_id] = deferred(named[record_id], missing)
        else:
            found = findings[record_id]
            verdicts[record_id] = Verdict("rejected", found) if found else ACCEPTED
    return verdicts

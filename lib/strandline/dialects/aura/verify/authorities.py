"""Admission of the operations of one authority: each is judged against the state that it names as its parent."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from strandline.core.judgement import Verdict
from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import authority_id, canonical
from strandline.dialects.aura.types import ZERO, Fact, Namespace, TreeOp
from strandline.dialects.aura.verify.accepted import (
    AcceptedOp,
    Anchor,
    GivenOp,
    JudgedOp,
    PrunedOps,
    UnreadOp,
    accepted_op,
    attested_of,
)
from strandline.dialects.aura.verify.operations import judge_op, signers_of
from strandline.dialects.aura.verify.states import EMPTY, State, apply_op
from strandline.dialects.aura.verify.verdicts import ACCEPTED, deferred, pin_of, rejected, state_of
from strandline.dialects.aura.verify.walk import Walk


@dataclass(slots=True)
class AdmittedOps:
    """Verdicts on the candidates by fact id, and all accepted operations by fact id, parents first."""

    verdicts: dict[bytes, Verdict] = field(default_factory=dict)
    operations: dict[bytes, AcceptedOp] = field(default_factory=dict)


def admit_operations(
    namespace: Namespace,
    candidates: Iterable[Fact],
    accepted: Iterable[Fact],
    pin: bytes | None = None,
    pruned: PrunedOps | None = None,
) -> AdmittedOps:
    """Return which operations of an authority join the accepted ones, as `judge_operations`."""
    found = AdmittedOps()
    for judged in judge_operations(namespace, candidates, accepted, pin, pruned):
        if judged.verdict is not None:
            found.verdicts[judged.fact_id] = judged.verdict
        if judged.op is not None:
            found.operations[judged.fact_id] = judged.op
    return found


def judge_operations(
    namespace: Namespace,
    candidates: Iterable[GivenOp],
    accepted: Iterable[GivenOp],
    pin: bytes | None,
    pruned: PrunedOps | None,
) -> Iterator[JudgedOp]:
    """Yield the verdicts on operations of an authority, and the accepted ones. Their order makes no difference.

    - A genesis must be the one that the pin names, or whose id the namespace has, or one that is accepted already:
      else `GENESIS_PIN_MISMATCH`, or deferred `GENESIS_UNPINNED` while there is none.
    - Any other operation must name the commitment of a state that an accepted operation made: else deferred
      `PARENT_MISSING`. A rejected operation makes no state, so operations that follow it wait. If the state cannot be
      built any more, since only pruned operations lead to it: `BELOW_SNAPSHOT`.
    - Then as `judge_op` against that state.

    One pass, depth first, as `Walk`: few states are in memory, however operations fork; a fact is, until it is judged.
    """
    return _Admission(namespace, pin, pruned).run(candidates, accepted)


class _Admission:
    def __init__(self, namespace: Namespace, pin: bytes | None, pruned: PrunedOps | None) -> None:
        self.namespace = namespace
        self.pin = pin
        self.base = {} if pruned is None else {pruned.state.commitment: pruned.state}
        self.below = frozenset(each.new_commitment for each in pruned.states()) if pruned else frozenset()
        self.children: dict[bytes, list[GivenOp]] = {}
        self.accepted: frozenset[bytes] = frozenset()

    def run(self, candidates: Iterable[GivenOp], accepted: Iterable[GivenOp]) -> Iterator[JudgedOp]:
        given = {each.fact_id: each for each in accepted}
        self.accepted = frozenset(given)
        for each in candidates:
            given.setdefault(each.fact_id, each)
        for each in given.values():
            self.children.setdefault(_parent_of(each), []).append(each)
        del given
        for start in (*self.base.values(), *(yield from self._geneses())):
            walk = Walk(start)
            for state in walk.states():
                yield from self._follow(self.children.pop(state.commitment, ()), state, walk.follow)
        for commitment, waiting in self.children.items():
            for each in waiting:
                if each.fact_id in self.accepted:
                    continue
                if commitment in self.below:
                    finding = Finding("BELOW_SNAPSHOT", {"actual": commitment.hex()})
                    yield JudgedOp(each.fact_id, rejected([finding]))
                else:
                    waits = [state_of(self.namespace.id, commitment)]
                    yield JudgedOp(each.fact_id, deferred("PARENT_MISSING", waits))

    def _geneses(self) -> Generator[JudgedOp, None, list[State]]:
        """Judge the genesis facts: first those with an anchor of their own, then the others against these."""
        facts = [_read(each) for each in self.children.pop(ZERO, ())]
        anchored = {fact.fact_id: self._anchor(fact) for fact in facts}
        first = [fact for fact in facts if anchored[fact.fact_id]]
        made: dict[bytes, State] = {}

        def keep(_op: TreeOp, state: State) -> None:
            made[state.op_id] = state

        yield from self._follow(first, EMPTY, keep, anchored)
        genuine = set(made)
        known: list[Fact] = []
        for fact in facts:
            if anchored[fact.fact_id]:
                continue
            if self.pin is None and fact.op_id in genuine:
                known.append(fact)
            elif self.pin is None and not genuine:
                yield JudgedOp(fact.fact_id, deferred("GENESIS_UNPINNED", [pin_of(self.namespace)]))
            else:
                yield JudgedOp(fact.fact_id, rejected([self._mismatch(fact, genuine)]))
        yield from self._follow(known, EMPTY, keep, dict.fromkeys(anchored, "pin"))
        return list(made.values())

    def _anchor(self, fact: Fact) -> Anchor | None:
        is_derived = authority_id(canonical(fact.content["op"])) == self.namespace.id
        if fact.fact_id in self.accepted:
            return "self" if is_derived else "pin"
        if self.pin is not None:
            return None if fact.op_id != self.pin else "self" if is_derived else "pin"
        return "self" if is_derived else None

    def _mismatch(self, fact: Fact, genuine: set[bytes]) -> Finding:
        expected = self.pin or min(genuine)
        return Finding(
            "GENESIS_PIN_MISMATCH", {"expected": expected.hex(), "actual": (fact.op_id or b"").hex()}
        )

    def _follow(
        self,
        given: Iterable[GivenOp],
        parent: State,
        follow: Callable[[TreeOp, State], None],
        anchors: Mapping[bytes, Anchor | None] | None = None,
    ) -> Iterator[JudgedOp]:
        """Judge the operations on one state; `follow` gets each new state once: of geneses, or with followers."""
        followed: set[bytes] = set()
        state: State | None = None
        for each in given:
            fact, verdict = _read(each), None
            signers = signers_of(fact, parent)
            if fact.fact_id not in self.accepted:
                findings = judge_op(fact, parent, signers)
                if findings:
                    yield JudgedOp(fact.fact_id, rejected(findings))
                    continue
                verdict = ACCEPTED
            op, op_id = attested_of(fact).op, fact.op_id or b""
            if state is None or state.op_id != op_id:
                state = apply_op(parent, op, op_id)
            leads_on = anchors is not None or state.commitment in self.children
            if leads_on and op_id not in followed and state.commitment not in self.base:
                followed.add(op_id)
                follow(op, state)
            anchor = None if anchors is None else anchors[fact.fact_id]
            yield JudgedOp(fact.fact_id, verdict, accepted_op(fact, signers, state, anchor))


def _read(given: GivenOp) -> Fact:
    return given.read() if isinstance(given, UnreadOp) else given


def _parent_of(given: GivenOp) -> bytes:
    return given.parent_commitment if isinstance(given, UnreadOp) else attested_of(given).op.parent_commitment

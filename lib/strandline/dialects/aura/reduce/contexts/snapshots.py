"""Snapshots as facts: which of them are sound, and which one is in force.

A snapshot states what its namespace reduces to over the facts that it supersedes. A status is a function of facts and
states, whatever came or was judged first, and false snapshots cost a bounded number of reductions.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from strandline.dialects.aura.reduce.authority import reduce_authority
from strandline.dialects.aura.reduce.base import base_commitment
from strandline.dialects.aura.reduce.contexts.bodies import AuthorityChain
from strandline.dialects.aura.reduce.contexts.snapshot_comparison import Comparison
from strandline.dialects.aura.reduce.contexts.snapshot_covers import Covers
from strandline.dialects.aura.reduce.contexts.snapshot_operations import OperationsAfter
from strandline.dialects.aura.reduce.contexts.snapshot_states import ProvenStates, StatePaths
from strandline.dialects.aura.reduce.contexts.snapshot_verdicts import (
    NOTHING_PRUNED,
    Judged,
    PrunedHere,
    SnapshotVerdicts,
)
from strandline.dialects.aura.types import ZERO, Fact, Namespace
from strandline.dialects.aura.verify import AcceptedOp, State

MAX_JUDGED: Final = 64
"""Snapshots that one walk judges; those that they supersede do not count."""


def judge_snapshots(
    namespace: Namespace,
    facts: Iterable[Fact],
    chains: Mapping[bytes, AuthorityChain] | None = None,
    relied: Iterable[bytes] = (),
    pruned: PrunedHere = NOTHING_PRUNED,
) -> SnapshotVerdicts:
    """Return the statuses of the Snapshot facts of a namespace, from its accepted facts; `chains` for a context.

    `relied` are states of an authority that records of this lake were pruned by: only snapshots that attest the last of
    them or a state after it can be in force, and they are judged first. `pruned` are the pruned facts of the namespace.

    The first of these that applies is the status:
    - `unjudged`: too many come before it, or it could not be in force;
    - `waiting`: a Snapshot that it supersedes is waiting, or a pair names no fact with that order;
    - `unchecked`: facts were pruned, it was not judged before, and what it covers cannot be reduced: that of a context
      never, that of an authority if it covers pruned operations and builds on no base at or after them;
    - `unsound`: a Snapshot that it supersedes is not sound, or its sequence is not smaller; or the state hash is not
      that of the covered facts, based on the one in force among those that it supersedes; or it is not attested at
      their tip (authority), not met (context);
    - `older`: the tip of another sound one properly descends from its tip;
    - `in_force`: of the sound ones left that with the greatest (sequence, fact id); the others are `older`.

    Judged are those of a context in descending (sequence, fact id) down to the first sound one; those of an authority
    in descending (height of the attested state, sequence, fact id), without those that attest the tip of a sound one of
    this walk or a state before it. What these supersede is judged, too.
    """
    by_id = {fact.fact_id: fact for fact in facts}
    return _Judge(namespace, by_id, chains or {}, frozenset(relied), pruned).run()


class _Judge:
    def __init__(
        self,
        namespace: Namespace,
        facts: Mapping[bytes, Fact],
        chains: Mapping[bytes, AuthorityChain],
        relied: frozenset[bytes],
        pruned: PrunedHere,
    ) -> None:
        self.namespace = namespace
        self.facts = facts
        self.relied = relied
        self.pruned = pruned
        self.snapshots = {id_: fact for id_, fact in facts.items() if fact.kind == "Snapshot"}
        self.judged: dict[bytes, Judged] = {}
        self.found = SnapshotVerdicts()
        held: list[AcceptedOp] = []
        if namespace.kind == "authority" and self.snapshots:
            every = reduce_authority(namespace, facts.values(), None, pruned.operations)
            held = [row.op for row in every.chain.rows.values()]
        self.states = StatePaths(pruned.placed(held))
        self.proven = ProvenStates(held, pruned.operations)
        self.after_relied = self.states.after(relied)
        self.after_carried = self.states.after(pruned.carried)
        self.covers = Covers(facts, pruned.fact_ids)
        self.operations = OperationsAfter(facts.values(), held, self.covers)
        self.comparison = Comparison(namespace, facts.values(), chains)

    def run(self) -> SnapshotVerdicts:
        """Judge, then rank the sound ones."""
        sound_of_walk = self._walk_authority() if self.namespace.kind == "authority" else self._walk_context()
        for id_ in self.snapshots:
            judged = self.judged.get(id_)
            if judged is None:
                self.found.statuses[id_] = "unjudged"
            else:
                self.found.statuses[id_] = "older" if judged.verdict == "sound" else judged.verdict
        best = self._best(
            id_ for id_, each in self.judged.items() if each.is_sound and self._can_be_in_force(id_)
        )
        if best is not None:
            self.found.statuses[best] = "in_force"
            self.found.in_force = self.snapshots[best]
            self.found.base = self._state_of(best)
        for id_ in sound_of_walk:
            self.found.branches[base_commitment(self.snapshots[id_])] = self.snapshots[id_]
        return self.found

    def _walk_context(self) -> list[bytes]:
        order = sorted(self.snapshots, key=self._rank, reverse=True)
        for id_ in order[:MAX_JUDGED]:
            if self._judge(id_).is_sound:
                break
        return []

    def _walk_authority(self) -> list[bytes]:
        order = sorted(
            self.snapshots,
            key=lambda id_: (
                self._can_be_in_force(id_),
                self.states.heights.get(base_commitment(self.snapshots[id_]), 0),
                *self._rank(id_),
            ),
            reverse=True,
        )
        passed: set[bytes] = set()
        sound: list[bytes] = []
        left = MAX_JUDGED
        for id_ in order:
            commitment = base_commitment(self.snapshots[id_])
            if commitment in passed:
                continue
            if not left:
                break
            left -= 1
            if self._judge(id_).is_sound:
                sound.append(id_)
                passed.update(self.states.before(commitment, passed))
        return sound

    def _rank(self, id_: bytes) -> tuple[int, bytes]:
        return self.snapshots[id_].content["sequence"], id_

    def _can_be_in_force(self, id_: bytes) -> bool:
        """Return whether a snapshot attests all relied states or states after them."""
        return not self.relied or base_commitment(self.snapshots[id_]) in self.after_relied

    def _judge(self, first: bytes) -> Judged:
        """Judge a snapshot, after all that it supersedes: ids are hashes, so no circle is possible."""
        waiting = [first]
        while waiting:
            id_ = waiting[-1]
            if id_ in self.judged:
                waiting.pop()
                continue
            inner = [each for each in self._inner(id_) if each not in self.judged]
            if inner:
                waiting += inner
            else:
                waiting.pop()
                self.judged[id_] = self._judge_one(self.snapshots[id_])
        return self.judged[first]

    def _inner(self, id_: bytes) -> list[bytes]:
        pairs = self.snapshots[id_].content["superseded_facts"]
        return [fact_id for _, fact_id in pairs if fact_id in self.snapshots]

    def _judge_one(self, snapshot: Fact) -> Judged:
        inner = self._inner(snapshot.fact_id)
        self.covers.add(snapshot)
        self.found.covered[snapshot.fact_id] = self.covers.count(snapshot.fact_id)
        pairs = snapshot.content["superseded_facts"]
        is_missing = any(not self._is_there(order, id_) for order, id_ in pairs)
        if is_missing or any(self.judged[each].verdict == "waiting" for each in inner):
            return Judged("waiting")
        before = self.pruned.judged_before(snapshot.fact_id)
        if before is not None:
            return Judged(before)
        base = self._best(each for each in inner if self.judged[each].is_sound)
        state = None if base is None else self._state_of(base)
        has_base = state is not None and state.commitment in self.after_carried
        if not self.pruned.lets_reduce(self.covers.has_pruned(snapshot.fact_id), has_base):
            return Judged("unchecked")
        sequence = snapshot.content["sequence"]
        is_built_on_sound = all(
            self.judged[each].is_sound and self.snapshots[each].content["sequence"] < sequence
            for each in inner
        )
        if not is_built_on_sound:
            return Judged("unsound")
        is_sound, state = self.comparison.of(snapshot, self._covered(snapshot.fact_id, state), state)
        if is_sound and state is not None:
            self.proven.put(state)
        return Judged("sound" if is_sound else "unsound")

    def _covered(self, id_: bytes, base: State | None) -> list[Fact]:
        """Return the facts that a snapshot covers; with a base only the operations after it."""
        return self.covers.facts(id_) if base is None else self.operations.covered(id_, base.commitment)

    def _state_of(self, id_: bytes) -> State | None:
        """Return the state that a sound snapshot of an authority proves; None if it cannot be built any more."""
        return self.proven.get(base_commitment(self.snapshots[id_]))

    def _is_there(self, order: bytes, fact_id: bytes) -> bool:
        """Return whether a pair names an accepted or a pruned fact; the order of a pruned fact is not stored."""
        fact = self.facts.get(fact_id)
        return fact_id in self.pruned.fact_ids if fact is None else fact.order == order

    def _best(self, sound: Iterable[bytes]) -> bytes | None:
        """Return which of sound snapshots is in force: none whose tip lies before another's, then by rank."""
        ids = list(sound)
        if len(ids) > 1 and self.namespace.kind == "authority":
            before: set[bytes] = set()
            for id_ in ids:
                parent = self.states.parents.get(base_commitment(self.snapshots[id_]), ZERO)
                before.update(self.states.before(parent, before))
            ids = [id_ for id_ in ids if base_commitment(self.snapshots[id_]) not in before]
        return max(ids, key=self._rank, default=None)

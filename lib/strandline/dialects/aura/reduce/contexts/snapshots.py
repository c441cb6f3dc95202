"""Snapshots as facts: which of them are sound, and which one is in force.

A snapshot states what its namespace reduces to over the facts that it supersedes. A status is a function of facts and
states, whatever came or was judged first, and false snapshots cost a bounded number of reductions.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from strandline.dialects.aura.reduce.authority import AuthorityState, reduce_authority
from strandline.dialects.aura.reduce.base import base_commitment, base_state
from strandline.dialects.aura.reduce.contexts.bodies import AuthorityChain
from strandline.dialects.aura.reduce.contexts.snapshot_verdicts import (
    NOTHING_PRUNED,
    PrunedHere,
    SnapshotVerdicts,
)
from strandline.dialects.aura.reduce.contexts.state import RelationalState, reduce_context
from strandline.dialects.aura.types import ZERO, Fact, Namespace
from strandline.dialects.aura.verify import State

MAX_JUDGED: Final = 64
"""Snapshots that one walk judges; those that they supersede do not count."""


def judge_snapshots(
    namespace: Namespace,
    facts: Iterable[Fact],
    chains: Mapping[bytes, AuthorityChain] | None = None,
    relied: Iterable[bytes] = (),
    gone: PrunedHere = NOTHING_PRUNED,
) -> SnapshotVerdicts:
    """Return what the Snapshot facts of a namespace are worth, from its accepted facts; `chains` for a context.

    `relied` are states of an authority that records of this lake were pruned by: only snapshots that attest the last of
    them or a state after it can be in force, and they are judged first. `gone` is what this lake pruned here.

    The first of these that applies is the status:
    - `unjudged`: too many come before it, or it could not be in force;
    - `waiting`: a Snapshot that it supersedes is waiting, or a pair names no fact with that order;
    - `unchecked`: facts were pruned, it was not judged before, and what it covers cannot be reduced: that of a context
      never, that of an authority if it covers pruned operations and no base among what it supersedes settles these;
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
    return _Judge(namespace, by_id, chains or {}, frozenset(relied), gone).run()


_Verdict: TypeAlias = Literal["waiting", "unchecked", "unsound", "sound"]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A judged snapshot, and of an authority the state that a sound one proves."""

    verdict: _Verdict
    state: State | None = None

    @property
    def is_sound(self) -> bool:
        return self.verdict == "sound"


class _Judge:
    def __init__(
        self,
        namespace: Namespace,
        facts: Mapping[bytes, Fact],
        chains: Mapping[bytes, AuthorityChain],
        relied: frozenset[bytes],
        gone: PrunedHere,
    ) -> None:
        self.namespace = namespace
        self.facts = facts
        self.chains = chains
        self.relied = relied
        self.gone = gone
        self.snapshots = {id_: fact for id_, fact in facts.items() if fact.kind == "Snapshot"}
        self.judged: dict[bytes, _Judged] = {}
        self.found = SnapshotVerdicts()
        is_authority = namespace.kind == "authority"
        self.all: AuthorityState | None = (
            reduce_authority(namespace, facts.values(), None, gone.operations)
            if is_authority and self.snapshots
            else None
        )
        self.held = [row.op for row in self.all.chain.rows.values()] if self.all else []
        placed = gone.placed(self.held)
        self.parents = {op.new_commitment: op.parent_commitment for op in placed}
        self.heights = {op.new_commitment: op.height for op in placed}
        self.genesis = [fact for fact in facts.values() if fact.variant == "ContextGenesis"]

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
            self.found.base = self.judged[best].state
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
                self.heights.get(base_commitment(self.snapshots[id_]), 0),
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
                passed.update(self._ancestors(commitment, passed))
        return sound

    def _rank(self, id_: bytes) -> tuple[int, bytes]:
        return self.snapshots[id_].content["sequence"], id_

    def _can_be_in_force(self, id_: bytes) -> bool:
        """Return whether a snapshot attests all relied states or states after them."""
        return not self.relied or self.relied <= {
            *self._ancestors(base_commitment(self.snapshots[id_]), set())
        }

    def _ancestors(self, commitment: bytes, known: set[bytes]) -> Iterator[bytes]:
        """Yield a state and those before it, down to one that is known. Damaged skeletons may form a circle."""
        seen: set[bytes] = set()
        while commitment != ZERO and commitment not in known and commitment not in seen:
            seen.add(commitment)
            yield commitment
            commitment = self.parents.get(commitment, ZERO)

    def _judge(self, first: bytes) -> _Judged:
        """Judge a snapshot, after all that it supersedes: ids are hashes, so no circle is possible."""
        waiting = [first]
        while waiting:
            id_ = waiting[-1]
            inner = [each for each in self._inner(id_) if each not in self.judged]
            if inner:
                waiting += inner
            else:
                waiting.pop()
                if id_ not in self.judged:
                    self.judged[id_] = self._judge_one(self.snapshots[id_])
        return self.judged[first]

    def _inner(self, id_: bytes) -> list[bytes]:
        pairs = self.snapshots[id_].content["superseded_facts"]
        return [fact_id for _, fact_id in pairs if fact_id in self.snapshots]

    def _judge_one(self, snapshot: Fact) -> _Judged:
        inner = self._inner(snapshot.fact_id)
        covered, pruned = self._covered(snapshot)
        self.found.covered[snapshot.fact_id] = len(covered) + len(pruned)
        pairs = snapshot.content["superseded_facts"]
        is_missing = any(not self._is_there(order, id_) for order, id_ in pairs)
        if is_missing or any(self.judged[each].verdict == "waiting" for each in inner):
            return _Judged("waiting")
        before = self.gone.judged_before(snapshot.fact_id)
        if before is not None:
            return _Judged(before, self._state_of(snapshot) if before == "sound" else None)
        base = self._best(each for each in inner if self.judged[each].is_sound)
        state = None if base is None else self.judged[base].state
        ancestors = () if state is None else tuple(self._ancestors(state.commitment, set()))
        if not self.gone.lets_reduce(pruned, state, ancestors):
            return _Judged("unchecked")
        sequence = snapshot.content["sequence"]
        is_built_on_sound = all(
            self.judged[each].is_sound and self.snapshots[each].content["sequence"] < sequence
            for each in inner
        )
        if not is_built_on_sound:
            return _Judged("unsound")
        return self._compared(snapshot, covered, state)

    def _state_of(self, snapshot: Fact) -> State | None:
        """Return the state that a snapshot of an authority attests, if it can be built after a collection."""
        carried, commitment = self.gone.operations, base_commitment(snapshot)
        if carried is None:
            return None
        return base_state(self.held, commitment, carried.state) or base_state(self.held, commitment)

    def _compared(self, snapshot: Fact, covered: Mapping[bytes, Fact], base: State | None) -> _Judged:
        """Compare the state hash and the attestation of a snapshot with what the covered facts reduce to."""
        stated = snapshot.content["state_hash"]
        if self.namespace.kind == "authority":
            authority = reduce_authority(self.namespace, covered.values(), base)
            is_sound = authority.state_hash == stated and authority.state.commitment == base_commitment(
                snapshot
            )
            return _Judged("sound" if is_sound else "unsound", authority.state)
        if not self._is_met(snapshot):
            return _Judged("unsound")
        context: RelationalState = reduce_context(
            self.namespace, [*self.genesis, *covered.values()], self.chains
        )
        return _Judged("sound" if context.state_hash == stated else "unsound")

    def _is_there(self, order: bytes, fact_id: bytes) -> bool:
        """Return whether a pair names a fact that is accepted, or pruned: then its order is gone."""
        fact = self.facts.get(fact_id)
        return fact_id in self.gone.fact_ids if fact is None else fact.order == order

    def _is_met(self, snapshot: Fact) -> bool:
        copies = [fact for fact in self.snapshots.values() if fact.body_id == snapshot.body_id]
        return any(
            each.authority in self.chains and each.commitment in self.chains[each.authority].states
            for fact in copies
            for each in fact.attest
        )

    def _covered(self, snapshot: Fact) -> tuple[dict[bytes, Fact], set[bytes]]:
        """Return what a snapshot covers, through all that it supersedes: facts, and the ids of pruned ones.

        No snapshot is one of them.
        """
        found: dict[bytes, Fact] = {}
        pruned: set[bytes] = set()
        seen, waiting = {snapshot.fact_id}, [snapshot]
        while waiting:
            for _, id_ in waiting.pop().content["superseded_facts"]:
                fact = self.facts.get(id_)
                if id_ in self.gone.fact_ids:
                    pruned.add(id_)
                elif fact is None or id_ in seen:
                    continue
                elif fact.kind == "Snapshot":
                    seen.add(id_)
                    waiting.append(fact)
                else:
                    found[id_] = fact
        return found, pruned

    def _best(self, sound: Iterable[bytes]) -> bytes | None:
        """Return which of sound snapshots is in force: none whose tip lies before another's, then by rank."""
        ids = list(sound)
        if self.namespace.kind == "authority":
            before: set[bytes] = set()
            for id_ in ids:
                parent = self.parents.get(base_commitment(self.snapshots[id_]), ZERO)
                before.update(self._ancestors(parent, before))
            ids = [id_ for id_ in ids if base_commitment(self.snapshots[id_]) not in before]
        return max(ids, key=self._rank, default=None)

"""An authority in memory that takes facts, snapshots and collections, beside one that never pruned anything."""

import random
from dataclasses import dataclass, field, replace

from strandline.dialects.aura.author.synthetic import History
from strandline.dialects.aura.reduce import (
    base_state,
    decode_op_skeleton,
    decode_state_carry,
    forks,
    plan_authority,
    prove_authority,
    reduce_authority,
    reduce_columns,
    unbuilt_ops,
)
from strandline.dialects.aura.verify import EMPTY, PrunedOps, admit_operations


def deliveries(seed, operations=14):
    """The facts of an authority with forks and operations that are signed twice, in a random order."""
    draw, _, given = history_of(seed, operations)
    return draw, given


def history_of(seed, operations=14):
    """As `deliveries`, with the history that signed the facts."""
    draw = random.Random(f"authority {seed}")
    history = History(29, seed, draw)
    first, *rest = history.facts(operations, 0.5, 0.0, 0.3)
    # Late ones come long after their siblings, some after these were pruned.
    late = [fact for fact in rest if draw.random() < 0.25]
    return draw, history, [first, *(fact for fact in rest if fact not in late), *draw.sample(late, len(late))]


@dataclass
class AuthorityLake:
    """`ever` are all facts that were accepted, `held` the operations that are stored, by fact id."""

    namespace: object
    ever: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)
    skeletons: dict = field(default_factory=dict)
    state: object = None
    base: object = None
    below: int = 0

    @property
    def pruned(self):
        if self.state is None:
            return None
        bones = {bone.op_id: bone for bone in map(decode_op_skeleton, self.skeletons.values())}
        return PrunedOps(
            tuple(bones.values()), self.state, unbuilt_ops(self.held.values(), bones.values(), self.state)
        )

    def enter(self, facts):
        """Admit facts beside what is held; what went is known."""
        new = [fact for fact in facts if fact.fact_id not in self.skeletons]
        stored = [op.fact for op in self.held.values()]
        found = admit_operations(self.namespace, new, stored, pruned=self.pruned)
        for fact in new:
            verdict = found.verdicts.get(fact.fact_id)
            if fact.fact_id in self.held or verdict is None:
                continue
            if verdict.status == "accepted":
                self.ever[fact.fact_id] = fact
                self.held[fact.fact_id] = found.operations[fact.fact_id]
            else:
                self.below += verdict.reasons == ("BELOW_SNAPSHOT",)

    def whole(self):
        """The reduction of all that was ever accepted."""
        return reduce_authority(self.namespace, self.ever.values(), self.base)

    def found_base(self):
        """The base from what is held and carried, as a reducer has it that knows its commitment alone."""
        if self.base is None:
            return None
        return base_state(self.held.values(), self.base.commitment, self.state or EMPTY)

    def advance(self, draw):
        """Let a snapshot prove a state of the history, at or after the one before."""
        path = self.whole().chain.path
        least = 0 if self.base is None else self.base.height - 1
        prefix = path[: draw.randint(least + 1, len(path))]
        self.base = reduce_authority(self.namespace, [op.fact for op in prefix]).state

    def collect(self, window, others=()):
        """Plan, prove and prune; return the proof and how many facts went."""
        ops = list(self.held.values())
        plan = plan_authority(self.namespace, ops, others, self.base, self.pruned, window)
        proof = prove_authority(self.namespace, ops, self.base, plan, self.pruned)
        if plan.prune:
            self.state = decode_state_carry(plan.carry)
            for each in plan.prune:
                self.skeletons[each.record_id] = each.skeleton
                del self.held[each.record_id]
        return proof, len(plan.prune)

    def differs(self):
        """What differs between all facts and what is held with skeletons and carry; None if nothing."""
        base = self.found_base()
        if self.base is not None and base is None:
            return "base"
        whole, gone = self.whole(), {decode_op_skeleton(raw).op_id for raw in self.skeletons.values()}
        facts = [op.fact for op in self.held.values()]
        for found in (
            reduce_authority(self.namespace, facts, base, self.pruned),
            reduce_columns(self.namespace, self.held.values(), base, self.pruned),
        ):
            if found is None:
                return "no state"
            if found.state_cbor != whole.state_cbor:
                return "state"
            if counts(found) != counts(whole):
                return "counts"
            if rows(found) != {id_: row for id_, row in rows(whole).items() if id_ not in gone}:
                return "operations"
            if not {*evidence(found)} <= {*evidence(whole)}:
                return "evidence"
        return None


def rows(found):
    """The rows of operations; only admission knows why a genesis is that of the namespace."""
    return {id_: replace(row, op=replace(row.op, anchor=None)) for id_, row in found.chain.rows.items()}


def counts(found):
    chain = found.chain
    return [
        *(chain.count(each) for each in ("applied", "superseded", "orphaned", "unreachable")),
        chain.fork_count,
    ]


def evidence(found):
    return [each.equivocation_id for each in forks(found.namespace, found.chain)]

"""Contexts of real authorities in a lake, entered as accepted rows, beside what the plain functions make of them."""

import random
from dataclasses import dataclass, field

from strandline.dialects.aura import author
from strandline.dialects.aura.author.synthetic import History
from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.reduce.contexts import AuthorityChain, authority_chain, pruning
from strandline.dialects.aura.reduce.contexts.skeletons import decode_carry, encode_carry
from strandline.dialects.aura.verify import admit
from support.aura_reference import fact_row, tuples
from support.context_lakes import Facts
from support.context_reference import context_rows
from support.log_lakes import union

TABLES = ("relational_binding", "flow_budget", "channel_epoch", "capability")
AUTHORITIES, OPERATIONS = 6, 5


class Member:
    """An authority: its operations, and snapshots at a state of its history, if it has any.

    A newer one of another hash, which nothing proves, is a rival of the one in force.
    """

    def __init__(self, number, *, has_base=True):
        self.history = History(23, number, random.Random(f"member {number}"))
        self.operations = list(self.history.facts(OPERATIONS, 0.4, 0.0, 0.0))
        self.namespace = self.operations[0].namespace
        self.path = authority_chain(self.reduced())
        self.ops = reduce_authority(self.namespace, self.operations).chain.path
        self.states = [op.new_commitment for op in self.ops]
        self.height = random.Random(f"base {number}").randint(1, len(self.ops)) if has_base else 0
        self.snapshots = [*self.in_force(1), self.rival(2)] if has_base else []

    def reduced(self):
        return reduce_authority(self.namespace, self.operations)

    def in_force(self, sequence):
        """The snapshot at the base."""
        return [self.snapshot(sequence, self.ops[: self.height])]

    def rival(self, sequence):
        """A snapshot of the base with a hash that it does not have."""
        return self.snapshot(sequence, self.ops[: self.height], bytes([sequence]) * 32)

    def advance(self):
        """Move the base to the tip; return the snapshots that do so, with a newer rival."""
        if not self.height:
            return []
        self.height = len(self.ops)
        return [*self.in_force(3), self.rival(4)]

    @property
    def final(self):
        """The states up to the base."""
        states = self.states[: self.height]
        return AuthorityChain(states[-1], frozenset(states))

    def snapshot(self, sequence, ops, state_hash=None):
        """The snapshot of what these operations reduce to, attested at their tip."""
        facts = [op.fact for op in ops]
        signer = self.history.keys[reduce_authority(self.namespace, facts).state.key.group_key]
        return snapshot_of(self.namespace, facts, sequence, signer, state_hash)

    def rows(self):
        """The facts as rows of `aura_fact`."""
        return authority_rows(self.operations, self.snapshots)


def snapshot_of(namespace, facts, sequence, signer, state_hash=None):
    """The snapshot of what operations reduce to, attested at their tip; or with another hash."""
    found, order = reduce_authority(namespace, facts), bytes([sequence]) * 32
    made = author.snapshot(
        namespace, sequence=sequence, state_hash=state_hash or found.state_hash, supersedes=facts, order=order,
        timestamp={"OrderClock": order},
    )  # fmt: skip
    return author.attest(made, namespace.id, found.state.commitment, signer)


def authority_rows(operations, snapshots=()):
    """The facts of an authority as rows of `aura_fact`."""
    ops = admit(operations).operations
    assert len(ops) == len(operations)
    return [fact_row(fact, ops.get(fact.fact_id)) for fact in (*operations, *snapshots)]


class MemberFacts(Facts):
    """Facts of a context whose members attest at any of their states."""

    def __init__(self, seed, members, **more):
        self.states = {
            each.namespace.id: [
                op.new_commitment for op in (row.op for row in each.reduced().chain.rows.values())
            ]
            for each in members
        }
        salt = random.Random(f"{seed} salt").randbytes(16)
        super().__init__(f"{seed} facts", genesis=author.context_genesis(sorted(self.states), salt), **more)

    def state_of(self, member, height=None):
        states = self.states[member]
        return states[0] if height is not None or self.draw.random() < 0.4 else self.draw.choice(states)


@dataclass
class ReferenceContexts:
    """The contexts of a lake in memory: facts that are held, and what went."""

    members: list
    sources: list
    held: dict = field(default_factory=dict)
    pruned: dict = field(default_factory=dict)
    carries: dict = field(default_factory=dict)

    def __post_init__(self):
        self.chains = {each.namespace.id: each.path for each in self.members}

    @property
    def finals(self):
        return {each.namespace.id: each.final for each in self.members if each.height}

    def enter(self, lake, facts):
        """Union facts into both; what was pruned is known."""
        for fact in facts:
            name = fact.namespace.text
            if fact.fact_id not in self.pruned.get(name, {}):
                self.held.setdefault(fact.namespace, {})[fact.fact_id] = fact
        rows = {each.fact_id: fact_row(each) for each in facts}
        gone = {id_ for name in self.pruned.values() for id_ in name}
        enter_rows(lake, [row for id_, row in rows.items() if id_ not in gone])

    def before(self, namespace):
        gone = self.pruned.get(namespace.text, {})
        carry = decode_carry(self.carries.get(namespace.text, encode_carry(())))
        return pruning.Pruned(carry, frozenset(row.alt_id for row in gone.values()))

    def plans(self, skip_window=0):
        return {
            namespace: pruning.plan_context(
                namespace, held.values(), self.chains, self.finals, self.before(namespace), skip_window
            )
            for namespace, held in self.held.items()
        }

    def prune(self, plans):
        for namespace, plan in plans.items():
            if plan.prune:
                self.pruned.setdefault(namespace.text, {}).update(
                    {each.record_id: each for each in plan.prune}
                )
                self.carries[namespace.text] = plan.carry
                for each in plan.prune:
                    del self.held[namespace][each.record_id]

    def tables(self):
        """The rows of the reduced tables, as `Lake.rows` gives them; without evidence of forks."""
        found = {}
        for namespace, held in self.held.items():
            rows = context_rows(namespace, held.values(), self.chains, {}, self.before(namespace))
            for table in TABLES:
                found.setdefault(table, []).extend(rows[table])
            [state] = rows["namespace_state"]
            state["record_count"] += len(self.pruned.get(namespace.text, {}))
            found.setdefault("namespace_state", []).append(state)
        return {table: tuples(table, rows, NAMES.get(table)) for table, rows in found.items()}


NAMES = {"namespace_state": ("namespace", "record_count", "state_hash", "reducer_version", "depends_on")}


def lake_tables(lake):
    """The reduced tables of the contexts of a lake."""
    found = {table: lake.rows(table) for table in TABLES}
    states = lake.rows("namespace_state", *NAMES["namespace_state"])
    return found | {"namespace_state": [row for row in states if row[0].startswith("context:")]}


def enter_rows(lake, rows):
    union(lake, "aura_fact", [row | {"run_id": "test"} for row in rows])


def world(count, members=2):
    """So many contexts of authorities, of which one has no snapshot in force."""
    pool = [Member(number, has_base=number > 0) for number in range(AUTHORITIES)]
    sources = [
        MemberFacts(seed, random.Random(f"{seed} members").sample(pool, members)) for seed in range(count)
    ]
    return ReferenceContexts(pool, sources)

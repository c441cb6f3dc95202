"""Authorities that a lake collects round by round, beside what the plain functions make of the same facts."""

from dataclasses import dataclass

from strandline.dialects.aura import author
from strandline.dialects.aura.kernels.reduced_rows import fork_rows, leaf_rows, operation_row, state_columns
from strandline.dialects.aura.reduce import REDUCER, plan_authority, reduce_authority, reduce_columns
from strandline.dialects.aura.reduce.contexts import authority_chain
from strandline.dialects.aura.types import ZERO
from strandline.dialects.aura.verify import admit_operations
from support.authority_lakes import AuthorityLake, history_of
from support.places import place
from support.pruned_contexts import MemberFacts, ReferenceContexts
from support.reference_rows import tuples

STATE = ("namespace", "record_count", "state_hash", "reducer_version")
TABLES = {"authority_state": None, "authority_leaf": None, "attested_op": None, "namespace_state": STATE}


class Source:
    """An authority: what it delivers, and what a lake in plain Python makes of it."""

    def __init__(self, seed):
        self.draw, self.history, self.given = history_of(seed)
        self.namespace = self.given[0].namespace
        self.lake = AuthorityLake(self.namespace)
        self.has_base = seed % 6 > 0
        self.has_receipt = seed % 4 == 1
        self.others, self.waiting, self.rejected, self.evidence = {}, {}, {}, {}
        self.snapshots = []

    def deliver(self, number):
        """The facts of a round: operations, late ones on old states, copies that are signed anew, a snapshot."""
        half = len(self.given) // 2
        facts = self.given[:half] if number == 0 else [*self.given[half:], *self.given[:3], *self.late()]
        self.enter(facts)
        told = []
        if self.has_base:
            self.lake.advance(self.draw)
        if self.has_receipt and number == 0:
            told.append(self.receipt())
        if self.has_base:
            told.append(self.snapshot(told))
        self.others |= {fact.fact_id: fact for fact in told}
        self.remember(self.reduced())
        return [*facts, *told]

    def late(self):
        first = self.given[0]
        states = {state.commitment: state for state in self.history.states}
        for state in self.draw.choices(self.history.states, k=4):
            yield self.history._signed(first, state, self.history._good(state))
        for fact in self.draw.choices(self.given[1:], k=4):
            op = fact.attested.op
            yield self.history._signed(first, states[op.parent_commitment], op.operation)

    def enter(self, facts):
        """Admit operations beside what is held; what waits is judged again, what went is known."""
        new = {fact.fact_id: fact for fact in facts if fact.fact_id not in self.lake.skeletons}
        stored = [op.fact for op in self.lake.held.values()]
        given = {**self.waiting, **new}
        found = admit_operations(self.namespace, given.values(), stored, pruned=self.lake.pruned)
        self.waiting = {}
        for id_, fact in given.items():
            verdict = found.verdicts.get(id_)
            if verdict is None or id_ in self.lake.held:
                continue
            if verdict.status == "accepted":
                self.lake.ever[id_], self.lake.held[id_] = fact, found.operations[id_]
            elif verdict.status == "rejected":
                self.rejected[id_] = verdict.reasons
            else:
                self.waiting[id_] = fact

    def snapshot(self, receipts):
        """The snapshot of the base, which also lists the receipts that came with it."""
        base, sequence = self.lake.base, len(self.snapshots) + 1
        path = reduce_authority(self.namespace, self.lake.ever.values(), base).chain.path[: base.height]
        assert path[-1].new_commitment == base.commitment
        order = bytes([sequence]) * 32
        found = reduce_authority(self.namespace, [op.fact for op in path])
        made = author.snapshot(
            self.namespace, sequence=sequence, state_hash=found.state_hash, order=order,
            supersedes=[*(op.fact for op in path), *self.snapshots, *receipts], timestamp={"OrderClock": order},
        )  # fmt: skip
        self.snapshots.append(
            author.attest(made, self.namespace.id, base.commitment, self.history.signer_at(base))
        )
        return self.snapshots[-1]

    def receipt(self):
        """The receipt of an operation that could go."""
        state, order = self.reduced().state, bytes([7]) * 32
        ops = [
            op for op in self.lake.held.values() if op.parent_commitment != ZERO or len(self.lake.held) == 1
        ]
        named = self.draw.choice(sorted(ops, key=lambda op: op.height)[:3]).fact
        return author.receipt(
            self.namespace, envelope_id=self.draw.choice([named.fact_id, named.body_id]), order=order,
            authority=self.namespace.id, commitment=state.commitment, received={"OrderClock": order},
            timestamp={"OrderClock": order}, signer=self.history.signer_at(state),
        )  # fmt: skip

    def reduced(self):
        """The reduction of what is held and of what stays of the rest, and equal to that of all facts."""
        found = reduce_columns(
            self.namespace, self.lake.held.values(), self.lake.found_base(), self.lake.pruned
        )
        assert self.lake.differs() is None
        return found

    def remember(self, found):
        rows = (place(self.namespace) | row for row in fork_rows(self.namespace, found))
        self.evidence |= {row["equivocation_id"]: row for row in rows}

    def plan(self, skip_window=0):
        return plan_authority(
            self.namespace, self.lake.held.values(), self.others.values(), self.lake.base, self.lake.pruned,
            skip_window,
        )  # fmt: skip

    def rows(self):
        """The rows of the reduced tables."""
        found, here = self.reduced(), place(self.namespace)
        count = len(self.lake.held) + len(self.lake.skeletons) + len(self.others)
        return {
            "authority_state": [here | state_columns(found)],
            "authority_leaf": [here | row for row in leaf_rows(found.state)],
            "attested_op": [here | operation_row(row) for row in found.chain.rows.values()],
            "namespace_state": [
                here | {"record_count": count, "state_hash": found.state_hash, "reducer_version": REDUCER}
            ],
            "equivocation": list(self.evidence.values()),
        }


class Context:
    """A context of authorities, whose facts attest any of their states, also those that only skeletons tell."""

    def __init__(self, sources):
        self.sources = sources
        self.reference = ReferenceContexts([], [])
        self.facts = None

    def deliver(self, lake):
        """Enter some facts; nobody verifies here."""
        wholes, first = {source.namespace: source.lake.whole() for source in self.sources}, []
        if self.facts is None:
            self.facts = MemberFacts("a context", [Whole(*each) for each in wholes.items()])
            first = [self.facts.genesis]
        self.facts.states = {
            name.id: [row.op.new_commitment for row in found.chain.rows.values()]
            for name, found in wholes.items()
        }
        self.reference.chains = {name.id: authority_chain(found) for name, found in wholes.items()}
        self.reference.enter(lake, [*first, *self.facts.some(40)])

    @property
    def namespace(self):
        return self.facts.namespace.text

    @property
    def held(self):
        return {(name.text, id_) for name, facts in self.reference.held.items() for id_ in facts}


@dataclass(frozen=True)
class Whole:
    """A member as `MemberFacts` reads it."""

    namespace: object
    found: object

    def reduced(self):
        return self.found


def tables(sources):
    """The rows of the reduced tables of all sources, as `Lake.rows` gives them."""
    found = {}
    for source in sources:
        for table, rows in source.rows().items():
            found.setdefault(table, []).extend(rows)
    return {table: tuples(table, rows, TABLES.get(table)) for table, rows in found.items()}


def lake_tables(lake):
    """The same tables of a lake."""
    found = {table: lake.rows(table, *(names or ())) for table, names in TABLES.items()}
    found |= {"equivocation": lake.rows("equivocation")}
    return {
        table: [row for row in rows if not any(str(each).startswith("context:") for each in row[:2])]
        for table, rows in found.items()
    }


def differing(found, expected):
    """The first rows, by table, that only one of two has."""
    wrong = {}
    for table in {*found, *expected}:
        more, less = set(map(repr, found[table])), set(map(repr, expected[table]))
        if more != less:
            wrong[table] = (sorted(more - less)[:2], sorted(less - more)[:2])
    return wrong


def held(sources):
    """The ids of stored facts."""
    return {(each.namespace.text, id_) for each in sources for id_ in (*each.lake.held, *each.others)}

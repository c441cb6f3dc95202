"""Random Snapshot facts over contexts and authorities: sound ones and chains of them, false, unmet and waiting ones."""

import random

from strandline.dialects.aura import author
from strandline.dialects.aura.author.synthetic import History
from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.reduce.contexts import authority_chain, reduce_context
from strandline.dialects.aura.verify import EMPTY


def histories_of(seed, count, operations, **rates):
    """The histories that `generate_contexts` draws from this seed, by authority."""
    found = {}
    for number in range(count):
        history = History(seed, number, random.Random(f"{seed}/{number}"))
        list(history.facts(operations, **rates))
        found[history.id] = history
    return found


def random_snapshots(facts_by_namespace, histories, chance, rate=0.4):
    """Snapshots of some of these namespaces, over their accepted facts, signed by the keys of `histories`."""
    chains = {
        namespace.id: authority_chain(reduce_authority(namespace, facts))
        for namespace, facts in facts_by_namespace.items()
        if namespace.kind == "authority"
    }
    for namespace, facts in facts_by_namespace.items():
        if chance.random() < rate:
            if namespace.kind == "context":
                yield from _Snapshots(namespace, facts, chains, histories, chance).of_context()
            elif namespace.id in histories:
                yield from _Snapshots(namespace, facts, chains, histories, chance).of_authority()


class _Snapshots:
    def __init__(self, namespace, facts, chains, histories, chance):
        self.namespace, self.facts, self.chains = (
            namespace,
            sorted(facts, key=lambda fact: fact.fact_id),
            chains,
        )
        self.histories, self.chance = histories, chance
        self.made = []
        self.covers = {}

    def of_context(self):
        [genesis] = [fact for fact in self.facts if fact.variant == "ContextGenesis"]
        members = [each for each in genesis.content["members"] if each in self.histories]
        for _ in range(self.chance.randint(1, 4) if members else 0):
            given = [fact for fact in self.facts if self.chance.random() < 0.8]
            over, covered = self._over(given)
            right = reduce_context(
                self.namespace, {genesis.fact_id: genesis, **covered}.values(), self.chains
            )
            history = self.histories[self.chance.choice(members)]
            state = history.tip if self.chance.random() < 0.8 else self.chance.choice(history.states)
            yield self._signed([*given, *over], covered, right.state_hash, history, state)

    def of_authority(self):
        history = self.histories[self.namespace.id]
        for _ in range(self.chance.randint(1, 4)):
            state = self.chance.choice([history.tip, *history.states])
            given = self._path(state.commitment)
            over, covered = self._over(given)
            found = reduce_authority(self.namespace, covered.values())
            attested = state if self.chance.random() < 0.2 else found.state
            if attested.commitment != EMPTY.commitment:
                yield self._signed([*given, *over], covered, found.state_hash, history, attested)

    def _path(self, commitment):
        """The operations that lead to a state."""
        rows = reduce_authority(self.namespace, self.facts).chain.rows.values()
        makers = {row.op.new_commitment: row.op for row in rows}
        path = []
        while commitment in makers:
            path.append(makers[commitment].fact)
            commitment = makers[commitment].attested.op.parent_commitment
        return path

    def _over(self, given):
        """Some snapshots made before, and all facts that one over these and `given` covers."""
        over = [each for each in self.made if self.chance.random() < 0.4]
        covered = {fact.fact_id: fact for fact in given}
        for each in over:
            covered |= self.covers[each.fact_id]
        return over, covered

    def _signed(self, supersedes, covered, state_hash, history, state):
        order = self.chance.randbytes(32)
        if self.chance.random() < 0.2:
            state_hash = bytes(32)
        sequence = len(self.made) + 1 if self.chance.random() < 0.8 else self.chance.choice((0, 2, 2**64 - 1))
        fact = author.snapshot(
            self.namespace, sequence=sequence, state_hash=state_hash, supersedes=supersedes, order=order,
            timestamp={"OrderClock": order},
        )  # fmt: skip
        if self.chance.random() < 0.1:
            fact = self._waiting(sequence, state_hash, [*supersedes, fact], order)
        fact = author.attest(fact, history.id, state.commitment, history.signer_at(state))
        self.made.append(fact)
        self.covers[fact.fact_id] = covered
        return fact

    def _waiting(self, sequence, state_hash, supersedes, order):
        """A snapshot over another one that nobody has attested, so that nobody has it."""
        return author.snapshot(
            self.namespace, sequence=sequence, state_hash=state_hash, supersedes=supersedes, order=order,
            timestamp={"OrderClock": order},
        )  # fmt: skip

"""Contexts whose facts come, go and come again: a store as a collection leaves it, and all facts ever seen beside it.

Nobody verifies here: attestations have no signatures, so that thousands of histories take seconds.
"""

import hashlib
import random
from dataclasses import dataclass, field

from strandline.dialects.aura import author
from strandline.dialects.aura.codec import encode
from strandline.dialects.aura.reduce.contexts import AuthorityChain, bump_hash, pruning, reduce_context
from strandline.dialects.aura.reduce.contexts.flows import MOST, Flow
from strandline.dialects.aura.reduce.contexts.skeletons import decode_carry, decode_skeleton, encode_carry

MEMBERS = (b"\x0a" * 16, b"\x0b" * 16)
HEIGHTS = 6
GENESIS = author.context_genesis(MEMBERS, bytes(16))
NAMESPACE = GENESIS.namespace
CHANNELS = (b"\xc1" * 32, b"\xc2" * 32)
ALL_KINDS = {
    "checkpoint": 6, "proposed": 3, "consensus": 3, "committed": 3, "policy": 1, "charge": 5, "limit": 1,
    "receipt": 0.3,
}  # fmt: skip


def commitment(authority, height, branch="main"):
    return hashlib.sha256(authority + f"{branch}/{height}".encode()).digest()


def sum_skeletons(skeletons):
    """Return the carry of all skeletons of a context, given by body id."""
    sums = {}
    for body_id, raw in skeletons.items():
        if raw is None:
            continue
        charge = decode_skeleton(raw, body_id)
        before = sums.get(charge.key) or Flow(charge.key)
        tip = max(before.tip or (0, b""), charge.tip or (0, b""))
        spent = min(before.spent + charge.spent, MOST)
        sums[charge.key] = Flow(charge.key, spent, before.charges + 1, tip)
    return tuple(sums[key] for key in sorted(sums))


class Facts:
    """A source of facts of one context: few values each, so that they meet often."""

    def __init__(self, seed, weights=None, genesis=GENESIS, **choices):
        self.draw = random.Random(seed)
        self.genesis, self.namespace, self.members = (
            genesis,
            genesis.namespace,
            sorted(genesis.content["members"]),
        )
        self.weights = weights or ALL_KINDS
        self.choices = {
            "epochs": (0, 0, 0, 1, 2), "generations": (0, 1, 2, 3, 5, 9, 14), "windows": (0, 0, 0, 0, 1),
            "parents": (0, 0, 1, 2),
            "nonces": (0, 1, 2, 3, 4, 9), "final_rate": 0.85, "channels": CHANNELS, "bumps": CHANNELS,
            "reasons": ("Routine", "SuspiciousActivity", "ConfirmedCompromise"),
        } | choices  # fmt: skip
        self.made = [genesis]

    def one(self, name):
        return self.draw.choice(self.choices[name])

    def some(self, count):
        """So many facts: new bodies, and copies of bodies with other attestations."""
        for _ in range(count):
            if len(self.made) > 1 and self.draw.random() < 0.15:
                body = self.draw.choice(self.made[1:])
                if body.kind == "Relational":
                    self.made.append(self.attested(body, self.draw.choice([1, 2])))
            else:
                self.made.append(self.new())
            yield self.made[-1]

    def new(self):
        """A fact of a random kind."""
        kind = self.draw.choices(list(self.weights), self.weights.values())[0]
        order = hashlib.sha256(f"{self.draw.random()}".encode()).digest()
        when = {"order": order, "timestamp": {"OrderClock": order}}
        if kind == "receipt":
            named = self.draw.choice(self.made)
            value = {
                "envelope_id": self.draw.choice([named.body_id, named.fact_id]), "authority_id": self.members[0],
                "timestamp": {"OrderClock": order}, "commitment": self.state_of(self.members[0], 0),
                "signature": bytes(64),
            }  # fmt: skip
            plain = author.relational(self.namespace, "AmpChannelPolicy", self.policy()[1], **when)
            return encode({**plain.value, "content": {"RendezvousReceipt": value}})
        variant, content = getattr(self, kind)()
        plain = author.relational(self.namespace, variant, content, **when)
        return self.attested(plain, 2 if variant == "Consensus" else 1)

    def attested(self, fact, count):
        """The body with attestations of so many members in place of its own, each at any of its states."""
        found = [
            {"authority": member, "commitment": self.state_of(member), "sig": bytes(64)}
            for member in sorted(self.draw.sample(self.members, count))
        ]
        return encode({**fact.value, "attest": found})

    def state_of(self, member, height=None):
        """The commitment of a state of a member: any, or the one at a height."""
        if height is not None:
            return commitment(member, height)
        is_main = self.draw.random() < self.choices["final_rate"]
        height = self.draw.choice((0, 0, 1, 1, 2, 3, 4, 5))
        return commitment(member, height, "main" if is_main else "fork")

    def amp(self):
        return {"context": self.namespace.id, "channel": self.one("channels")}

    def checkpoint(self):
        return "AmpChannelCheckpoint", {
            **self.amp(), "chan_epoch": self.one("epochs"), "base_gen": self.one("generations"), "window": 4,
            "ck_commitment": self.draw.choice(CHANNELS), "skip_window_override": self.one("windows"),
        }  # fmt: skip

    def bump(self):
        parent, bump = self.one("parents"), self.one("bumps")
        return {**self.amp(), "parent_epoch": parent, "new_epoch": parent + 1}, bump

    def proposed(self):
        members, bump = self.bump()
        reason = self.one("reasons")
        return "AmpProposedChannelEpochBump", {**members, "bump_id": bump, "reason": reason}

    def consensus(self):
        members, bump = self.bump()
        agreed = bump_hash(self.namespace.id, members["channel"], members["parent_epoch"], bump)
        if self.draw.random() < 0.1:
            agreed = self.draw.choice(self.made).body_id
        return "Consensus", {
            "consensus_id": bytes(32), "operation_hash": agreed, "threshold_met": True, "participant_count": 2
        }  # fmt: skip

    def committed(self):
        members, bump = self.bump()
        return "AmpCommittedChannelEpochBump", {**members, "chosen_bump_id": bump, "consensus_id": bytes(32)}

    def policy(self):
        return "AmpChannelPolicy", {**self.amp(), "skip_window": self.one("windows")}

    def flow(self):
        src, dst = self.draw.sample(self.members, 2)
        return {"context": self.namespace.id, "src": src, "dst": dst, "epoch": self.draw.choice((0, 1))}

    def charge(self):
        nonce = self.one("nonces")
        prev = bytes(32) if nonce == 0 else CHANNELS[0]
        cost = self.draw.choice((1, 7, 2**32 - 1))
        return "FlowCharge", {**self.flow(), "cost": cost, "nonce": nonce, "prev": prev}

    def limit(self):
        return "FlowLimit", {**self.flow(), "limit": self.draw.choice((0, 5, 10**6))}


@dataclass
class Chains:
    """The histories of the members: `final` states, and a tip that may lie on another branch above them."""

    draw: random.Random
    final: dict = field(default_factory=lambda: dict.fromkeys(MEMBERS, -1))
    now: dict = field(default_factory=dict)

    def __post_init__(self):
        self.move()

    def move(self):
        """Every member's tip goes anywhere above its final states."""
        for member in MEMBERS:
            height = self.draw.randint(max(self.final[member], 0), HEIGHTS - 1)
            states = [commitment(member, each) for each in range(height + 1)]
            if self.draw.random() < 0.4 and self.final[member] < height:
                states[-1] = commitment(member, height, "fork")
            self.now[member] = AuthorityChain(states[-1], frozenset(states))

    def settle(self):
        """Snapshots come into force at states of the chains, which stay from then on."""
        for member in MEMBERS:
            main = [
                height for height in range(HEIGHTS) if commitment(member, height) in self.now[member].states
            ]
            self.final[member] = max(self.final[member], self.draw.choice(main or [-1]))

    @property
    def finals(self):
        """The final states of members that have any."""
        return {
            member: AuthorityChain(
                commitment(member, height), frozenset(commitment(member, each) for each in range(height + 1))
            )
            for member, height in self.final.items()
            if height >= 0
        }


@dataclass
class ContextLake:
    """The record table and `pruned_record` of one context, with all facts ever seen, which no lake has."""

    seen: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)
    pruned: dict = field(default_factory=dict)
    carry: bytes = encode_carry(())

    def ingest(self, facts):
        """Union merge: what was pruned is known."""
        for fact in facts:
            self.seen[fact.fact_id] = fact
            if fact.fact_id not in self.pruned:
                self.held[fact.fact_id] = fact

    @property
    def before(self):
        """What went so far. Replaced by a test that plants a wrong rule."""
        return pruning.Pruned(decode_carry(self.carry), frozenset(row.alt_id for row in self.pruned.values()))

    def plan(self, chains, finals, skip_window=0):
        return pruning.plan_context(NAMESPACE, self.facts, chains, finals, self.before, skip_window)

    def is_proved(self, plan, chains):
        return pruning.prove_context(NAMESPACE, self.facts, chains, plan, self.before).equal

    @property
    def facts(self):
        """Records: what is held without what is pruned, as every reducer reads them."""
        return [fact for fact_id, fact in self.held.items() if fact_id not in self.pruned]

    def prune(self, plan, *, is_killed=False):
        """Commit a plan to `pruned_record`; a killed collection leaves the rows to the next one."""
        for row in plan.prune:
            self.pruned[row.record_id] = row
        self.carry = plan.carry
        if not is_killed:
            self.finish()

    def finish(self):
        """Delete rows that `pruned_record` lists, by id."""
        self.held = {each: fact for each, fact in self.held.items() if each not in self.pruned}

    def reduced(self, chains):
        before = self.before
        return reduce_context(NAMESPACE, self.facts, chains, before.carry, before.absorbed)

    def differences(self, chains):
        """Where the state of this lake differs from that of all facts ever seen."""
        whole = reduce_context(NAMESPACE, self.seen.values(), chains)
        found = self.reduced(chains)
        rows = pruning.compare_rows(pruning.reduced_rows(whole), pruning.reduced_rows(found))
        return [*rows, *(["hash"] if whole.rows != found.rows else [])]

    def assert_whole(self, chains):
        """Answers, ids and the carry are those of a lake that never pruned."""
        assert self.differences(chains) == []
        assert {*self.held, *self.pruned} == {*self.seen}
        skeletons = {row.alt_id: row.skeleton for row in self.pruned.values()}
        assert decode_carry(self.carry) == sum_skeletons(skeletons)

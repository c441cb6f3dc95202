"""Contexts of made-up authorities, for tests and measurements: one seed gives the same facts everywhere.

INSECURE DEMO: the keys derive from the seed.
"""

import hashlib
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final, TypeAlias

from strandline.dialects.aura.author.facts import attest, context_genesis, receipt, relational
from strandline.dialects.aura.author.synthetic import History, digests
from strandline.dialects.aura.reduce.contexts import bump_hash
from strandline.dialects.aura.types import ZERO, Fact
from strandline.dialects.aura.verify import State

_OPERATIONS: Final = 4
_MOST: Final = 2**64 - 1
_ACTIONS: Final = ("read", "send", "sign", "\u00e4", "\U0001f511")
_Relational: TypeAlias = tuple[str, Mapping[str, Any]]


def generate_contexts(
    seed: int,
    *,
    contexts: int,
    members: int,
    facts: int,
    fork_rate: float = 0.0,
    unmet_rate: float = 0.0,
    bad_rate: float = 0.0,
    duplicate_rate: float = 0.0,
) -> Iterator[Fact]:
    """Yield the histories of authorities, then contexts of `members` of them: the genesis and `facts` bodies of each.

    With the given chances a history forks; a body is attested by others than it needs, or at a state that lost; a fact
    is signed by a stranger or under a wrong key; a body comes again, with other attestations or the same.
    """
    pool = [History(seed, number, Random(f"{seed}/{number}")) for number in range(members + contexts // 4)]
    for history in pool:
        yield from history.facts(_OPERATIONS, fork_rate, 0.0, duplicate_rate)
    for number in range(contexts):
        chance = Random(f"{seed}/context/{number}")
        parties = (
            sorted(chance.sample(pool, members + 1), key=lambda each: each.id)
            if len(pool) > members
            else pool
        )
        stranger = parties.pop(chance.randrange(len(parties))) if len(parties) > members else None
        made = _Context(f"{seed}/context/{number}", chance, parties, stranger)
        yield from made.facts(facts, unmet_rate, bad_rate, duplicate_rate)


class _Context:
    """One context: its members, and what its bodies refer to."""

    def __init__(self, name: str, chance: Random, members: list[History], stranger: History | None) -> None:
        self.name = name
        self.chance = chance
        self.members = {each.id: each for each in members}
        self.stranger = stranger
        self._digest = digests(name)
        self.genesis = context_genesis(self.members, self._digest("salt")[:16])
        self.namespace = self.genesis.namespace
        self.amp = {"context": self.namespace.id}
        self.bodies = [self.genesis.body_id]
        self.tips: dict[tuple[bytes, bytes, int], tuple[int, bytes]] = {}

    def facts(self, facts: int, unmet_rate: float, bad_rate: float, duplicate_rate: float) -> Iterator[Fact]:
        """Yield the genesis, and so many bodies."""
        yield self.genesis
        for _ in range(facts):
            if self.chance.random() < 0.05:
                yield self._receipt()
                continue
            variant, content = self.chance.choice(self._MAKERS)(self)
            order = self._digest("order")
            plain = relational(self.namespace, variant, content, order=order, timestamp={"OrderClock": order})
            fact = self._signed(plain, self.chance.random() < unmet_rate)
            self._remember(fact)
            yield fact
            if self.chance.random() < bad_rate:
                yield self._bad(plain, fact)
            if self.chance.random() < duplicate_rate:
                yield self._signed(plain, is_unmet=True) if self.chance.random() < 0.5 else fact

    def _remember(self, fact: Fact) -> None:
        content = fact.content
        self.bodies.append(fact.body_id)
        if fact.variant == "FlowCharge" and self.chance.random() < 0.9:
            self.tips[content["src"], content["dst"], content["epoch"]] = (content["nonce"], fact.body_id)

    def _signed(self, fact: Fact, is_unmet: bool) -> Fact:
        """Return the fact with the attestations that it needs, or, if it is to be unmet, with any."""
        content = fact.content
        named = [content[name] for name in ("account_id", "guardian_id", "src", "subject") if name in content]
        if fact.variant == "Consensus":
            named = list(self.members)
        elif not named:
            named = [self.chance.choice(list(self.members))]
        if is_unmet:
            named = self.chance.sample(list(self.members), self.chance.randint(1, len(self.members)))
        for authority in named:
            history = self.members[authority]
            state = self._state_for(history, fact, is_unmet)
            if state is not None:
                fact = _attested(fact, history, state)
        if not fact.attest:
            return self._signed(fact, is_unmet) if is_unmet else self._signed(fact, is_unmet=True)
        return fact

    def _state_for(self, history: History, fact: Fact, is_lost: bool) -> State | None:
        """Return a state to attest at: the tip, or any; of a sender one with the epoch of the charge."""
        states = history.states if is_lost else [history.tip]
        if fact.variant == "FlowCharge" and fact.content["src"] == history.id:
            states = [each for each in history.states if each.epoch == fact.content["epoch"]]
        return self.chance.choice(states) if states else None

    def _bad(self, plain: Fact, fact: Fact) -> Fact:
        """Return a fact that admission refuses, or that waits for a state which nobody knows."""
        if self.stranger is not None and self.chance.random() < 0.5:
            return _attested(fact, self.stranger, self.stranger.tip)
        history = self.members[self.chance.choice(list(self.members))]
        forged = attest(plain, history.id, history.tip.commitment, self._any_key(history))
        return (
            forged
            if self.chance.random() < 0.8
            else attest(plain, history.id, self._digest("state"), self._any_key(history))
        )

    def _any_key(self, history: History) -> Any:
        others = [
            key
            for public, key in history.keys.items()
            if history.tip.key and public != history.tip.key.group_key
        ]
        return self.chance.choice(others or list(history.keys.values()))

    def _pair(self) -> tuple[bytes, bytes]:
        first, second = self.chance.sample(list(self.members), 2)
        return first, second

    def _small(self, use: str, values: int) -> bytes:
        """Return one of few digests, so that several bodies name the same."""
        number = self.chance.randrange(values)
        return hashlib.sha256(f"{self.name}/{use}/{number}".encode()).digest()

    def _binding(self) -> _Relational:
        account, guardian = self._pair()
        return "GuardianBinding", {
            "account_id": account,
            "guardian_id": guardian,
            "binding_hash": self._small("bind", 3),
        }

    def _grant(self) -> _Relational:
        account, guardian = self._pair()
        return "RecoveryGrant", {
            "account_id": account,
            "guardian_id": guardian,
            "grant_hash": self._small("grant", 2),
        }

    def _bump(self) -> tuple[dict[str, Any], bytes]:
        channel, parent = self._small("channel", 2), self.chance.choice((0, 0, 0, 1, 1, 2, _MOST - 1))
        bump = self._small(f"bump {parent}", 2)
        return {**self.amp, "channel": channel, "parent_epoch": parent, "new_epoch": parent + 1}, bump

    def _consensus(self) -> _Relational:
        members, bump = self._bump()
        operation = bump_hash(self.namespace.id, members["channel"], members["parent_epoch"], bump)
        if self.chance.random() < 0.2:
            operation = self.chance.choice(self.bodies)
        return "Consensus", {
            "consensus_id": self._small("consensus", 2), "operation_hash": operation,
            "threshold_met": self.chance.random() < 0.9,
            "participant_count": self.chance.choice((0, 1, len(self.members), len(self.members), 65535)),
        }  # fmt: skip

    def _proposed(self) -> _Relational:
        members, bump = self._bump()
        reason = self.chance.choice(("Routine", "Routine", "SuspiciousActivity", "ConfirmedCompromise"))
        return "AmpProposedChannelEpochBump", {**members, "bump_id": bump, "reason": reason}

    def _committed(self) -> _Relational:
        members, bump = self._bump()
        agreed = {"chosen_bump_id": bump, "consensus_id": self._small("consensus", 2)}
        return "AmpCommittedChannelEpochBump", {**members, **agreed}

    def _checkpoint(self) -> _Relational:
        return "AmpChannelCheckpoint", {
            **self.amp, "channel": self._small("channel", 3), "chan_epoch": self.chance.choice((0, 0, 1, 1, 2, _MOST)),
            "base_gen": self.chance.choice((0, 2, 4, 600, 600, _MOST)), "window": 1024,
            "ck_commitment": self._small("checkpoint", 3),
            "skip_window_override": self.chance.choice((None, None, 0, 4, 2**32 - 1)),
        }  # fmt: skip

    def _policy(self) -> _Relational:
        window = self.chance.choice((None, 0, 3, 512, 2**32 - 1))
        return "AmpChannelPolicy", {**self.amp, "channel": self._small("channel", 4), "skip_window": window}

    def _flow(self) -> dict[str, Any]:
        src, dst = self._pair()
        epoch = self.chance.choice(self.members[src].states).epoch
        return {**self.amp, "src": src, "dst": dst, "epoch": epoch}

    def _limit(self) -> _Relational:
        return "FlowLimit", {**self._flow(), "limit": self.chance.choice((0, 5, 100, 10**6, _MOST))}

    def _charge(self) -> _Relational:
        flow = self._flow()
        nonce, prev = self.tips.get((flow["src"], flow["dst"], flow["epoch"]), (-1, ZERO))
        if self.chance.random() < 0.05:
            nonce, prev = _MOST - 1, self.chance.choice(self.bodies)
        nonce = min(nonce + 1, _MOST)
        return "FlowCharge", {
            **flow,
            "cost": self.chance.choice((0, 1, 7, 2**32 - 1)),
            "nonce": nonce,
            "prev": prev,
        }

    def _capability(self) -> _Relational:
        actions = self.chance.sample(_ACTIONS, self.chance.randrange(len(_ACTIONS) + 1))
        names = self.chance.sample(("flow", "send", "\u00fc"), self.chance.randrange(4))
        return "Capability", {
            "context": self.namespace.id, "subject": self.chance.choice(list(self.members)),
            "actions": self.chance.choice((None, sorted(actions, key=str.encode))),
            "limits": {name: self.chance.choice((0, 10, _MOST)) for name in names},
            "epoch_min": self.chance.choice((None, None, 0, 2)), "epoch_max": self.chance.choice((None, 1, 9, _MOST)),
        }  # fmt: skip

    def _generic(self) -> _Relational:
        kind = self.chance.choice(("note", "n\u00f6te", ""))
        return "Generic", {
            "context_id": self.namespace.id, "binding_type": kind, "binding_data": self._small("data", 2)[: len(kind)],
        }  # fmt: skip

    _MAKERS = (
        _binding, _grant, _consensus, _consensus, _consensus, _proposed, _committed, _committed, _checkpoint,
        _checkpoint, _policy, _limit, _charge, _charge, _charge, _capability, _generic,
    )  # fmt: skip

    def _receipt(self) -> Fact:
        authority, order = self.chance.choice(list(self.members)), self._digest("order")
        history = self.members[authority]
        when = {"OrderClock": order}
        return receipt(
            self.namespace, envelope_id=self.chance.choice(self.bodies), authority=authority, received=when,
            commitment=history.tip.commitment, signer=history.signer_at(history.tip), order=order, timestamp=when,
        )  # fmt: skip


def _attested(fact: Fact, history: History, state: State) -> Fact:
    return attest(fact, history.id, state.commitment, history.signer_at(state))

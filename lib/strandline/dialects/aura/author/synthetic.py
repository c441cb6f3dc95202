"""Histories of made-up authorities, for tests and measurements: one seed gives the same facts everywhere.

INSECURE DEMO: the keys derive from the seed.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.aura.author.facts import append, genesis
from strandline.dialects.aura.types import (
    ALL,
    ANY,
    AddLeaf,
    ChangePolicy,
    Fact,
    KeyRecord,
    LeafNode,
    Operation,
    Policy,
    RekeyLeaf,
    RemoveLeaf,
    Role,
    RotateEpoch,
)
from strandline.dialects.aura.verify import EMPTY, State, state_after

_FEW_LEAVES: Final = 4
_POLICIES: Final = (ANY, Policy("Threshold", 1, 3), Policy("Threshold", 2, 3), ALL)


def generate(
    seed: int,
    *,
    authorities: int,
    operations: int,
    fork_rate: float = 0.0,
    bad_rate: float = 0.0,
    duplicate_rate: float = 0.0,
) -> Iterator[Fact]:
    """Yield the genesis and `operations` operations of each authority, parents first.

    With the given chances an operation follows an earlier state than the newest (a fork, as soon as that state has
    another child), breaks a rule of its parent state, or comes again: as the same fact, or signed anew.
    """
    for number in range(authorities):
        chance = Random(f"{seed}/{number}")
        yield from History(seed, number, chance).facts(operations, fork_rate, bad_rate, duplicate_rate)


def digests(name: str) -> Callable[[str], bytes]:
    """Return a function that gives a new digest for a use at each call: the same ones for the same name."""
    count = itertools.count(1)

    def digest(use: str) -> bytes:
        return hashlib.sha256(f"INSECURE DEMO/{name}/{use}/{next(count)}".encode()).digest()

    return digest


class History:
    """One authority: its states, and the keys that sign for them; `children` of a state by commitment and op id."""

    def __init__(self, seed: int, number: int, chance: Random) -> None:
        self.name = f"{seed}/{number}"
        self.chance = chance
        self.keys: dict[bytes, Ed25519Key] = {}
        self.states: list[State] = []
        self.children: dict[bytes, dict[bytes, State]] = {}
        self._digest = digests(self.name)
        self.id = b""

    def signer_at(self, state: State) -> Ed25519Key:
        """Return the key that signs for a state.

        Raises:
            KeyError: the state has no key, or one of another history.
        """
        return self.keys[b"" if state.key is None else state.key.group_key]

    def _key(self) -> Ed25519Key:
        key = Ed25519Key(self._digest("key"))
        self.keys[key.public] = key
        return key

    def facts(
        self, operations: int, fork_rate: float, bad_rate: float, duplicate_rate: float
    ) -> Iterator[Fact]:
        order = self._digest("order")
        first = genesis(
            self._key(), min_signers=1, max_signers=3, policy=ANY, salt=self._digest("salt")[:16], order=order,
            timestamp={"OrderClock": order}, signer_count=1,
        )  # fmt: skip
        self.id = first.namespace.id
        self._apply(first, EMPTY)
        yield first
        for _ in range(operations):
            is_fork = self.chance.random() < fork_rate
            parent = self.chance.choice(self.states[-8:]) if is_fork else self.states[-1]
            if self.chance.random() < bad_rate:
                yield self._signed(first, parent, self._bad(parent))
            fact = self._signed(first, parent, self._good(parent))
            self._apply(fact, parent)
            yield fact
            if self.chance.random() < duplicate_rate and fact.attested is not None:
                again = self._signed(first, parent, fact.attested.op.operation)
                yield self.chance.choice((fact, again))

    def _apply(self, fact: Fact, parent: State) -> None:
        self.states.append(state_after(parent, fact))
        if fact.op_id is not None:
            self.children.setdefault(parent.commitment, {})[fact.op_id] = self.states[-1]

    @property
    def tip(self) -> State:
        """The state that the history reduces to: of concurrent operations the greatest id wins."""
        state = EMPTY
        while children := self.children.get(state.commitment):
            state = children[max(children)]
        return state

    def _signed(self, first: Fact, parent: State, operation: Operation) -> Fact:
        order = self._digest("order")
        signer = self.keys[parent.key.group_key] if parent.key is not None else self._key()
        return append(
            first.namespace, parent, operation, signer=signer, order=order, timestamp={"OrderClock": order}
        )

    def _leaf(self, leaf_id: int) -> LeafNode:
        role: Role = "Guardian" if self.chance.random() < 0.2 else "Device"
        return LeafNode(leaf_id, self._digest("device")[:16], role, self._digest("leaf"), b"")

    def _good(self, parent: State) -> Operation:
        """Return an operation that fits the state."""
        leaves: Sequence[int] = list(parent.leaves)
        kinds = ["add"] if len(leaves) < _FEW_LEAVES else ["add", "remove", "rekey", "rekey"]
        kind = self.chance.choice([*kinds, "policy", "rotate", "rotate"])
        if kind == "remove":
            return RemoveLeaf(self.chance.choice(leaves), self.chance.randrange(256))
        if kind == "rekey":
            return RekeyLeaf(self.chance.choice(leaves), self._digest("leaf"))
        if kind == "policy":
            return ChangePolicy(0, self._stricter(parent))
        if kind == "rotate":
            key = KeyRecord(self._key().public, 1, 3) if self.chance.random() < 0.5 else None
            return RotateEpoch((0,), key)
        return AddLeaf(self._leaf(parent.next_leaf_id), 0)

    def _stricter(self, parent: State) -> Policy:
        first = _POLICIES.index(parent.policy)
        return _POLICIES[self.chance.randrange(first, min(first + 2, len(_POLICIES)))]

    def _bad(self, parent: State) -> Operation:
        """Return an operation that does not fit the state."""
        return self.chance.choice(
            (
                AddLeaf(self._leaf(parent.next_leaf_id + 1), 0),
                RemoveLeaf(parent.next_leaf_id, 0),
                RotateEpoch((2**32 - 1,), None),
                ChangePolicy(1, ALL),
            )
        )

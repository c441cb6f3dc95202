"""Comparison of a snapshot with the state that its covered facts reduce to."""

from collections.abc import Iterable, Mapping

from strandline.dialects.aura.reduce.authority import reduce_authority
from strandline.dialects.aura.reduce.base import base_commitment
from strandline.dialects.aura.reduce.contexts.bodies import AuthorityChain
from strandline.dialects.aura.reduce.contexts.state import reduce_context
from strandline.dialects.aura.types import Fact, Namespace
from strandline.dialects.aura.verify import State


class Comparison:
    """Compares state hash and attestation of snapshots with the states that facts reduce to."""

    def __init__(
        self, namespace: Namespace, facts: Iterable[Fact], chains: Mapping[bytes, AuthorityChain]
    ) -> None:
        self._namespace, self._chains = namespace, chains
        self._genesis: list[Fact] = []
        self._met: set[bytes] = set()
        for fact in facts:
            if fact.variant == "ContextGenesis":
                self._genesis.append(fact)
            if fact.kind == "Snapshot" and self._is_on_chain(fact):
                self._met.add(fact.body_id)

    def of(self, snapshot: Fact, covered: list[Fact], base: State | None) -> tuple[bool, State | None]:
        """Return whether a snapshot is sound, and of an authority the state that the covered facts reduce to."""
        stated = snapshot.content["state_hash"]
        if self._namespace.kind == "authority":
            authority = reduce_authority(self._namespace, covered, base)
            is_tip = authority.state.commitment == base_commitment(snapshot)
            return authority.state_hash == stated and is_tip, authority.state
        if snapshot.body_id not in self._met:
            return False, None
        context = reduce_context(self._namespace, [*self._genesis, *covered], self._chains)
        return context.state_hash == stated, None

    def _is_on_chain(self, fact: Fact) -> bool:
        return any(
            each.authority in self._chains and each.commitment in self._chains[each.authority].states
            for each in fact.attest
        )

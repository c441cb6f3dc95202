"""The bodies of a context: facts without their attestations, and the attestors of each."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from strandline.dialects.aura.reduce.authority import AuthorityState
from strandline.dialects.aura.types import Fact

_NEED_NOBODY: Final = ("ContextGenesis", "RendezvousReceipt")


@dataclass(frozen=True, slots=True)
class AuthorityChain:
    """The states of an authority from its genesis to its tip, by commitment. A state that lost a fork is not there."""

    tip: bytes
    states: frozenset[bytes]


def authority_chain(found: AuthorityState) -> AuthorityChain:
    """Return the chain of a reduced authority."""
    tip = found.state.commitment
    return AuthorityChain(tip, frozenset(op.new_commitment for op in found.chain.path) | {tip})


@dataclass(frozen=True, slots=True)
class Body:
    """All accepted facts of a context that differ in attestations only; it counts once.

    `fact` is the one with the least id. `attestors` attested the body in any of its facts; `on_chain` are those who did
    so at a state of their chain.
    """

    fact: Fact
    attestors: frozenset[bytes]
    on_chain: frozenset[bytes]

    @property
    def body_id(self) -> bytes:
        """Its id."""
        return self.fact.body_id

    @property
    def content(self) -> Mapping[str, Any]:
        """The members of its variant."""
        return self.fact.content


def quorum(members: int) -> int:
    """Return the quorum of a number of members: 2f + 1 of 3f + 1."""
    return 2 * members // 3 + 1


def bodies_of(facts: Iterable[Fact], chains: Mapping[bytes, AuthorityChain]) -> list[Body]:
    """Return the bodies of facts, by ascending id; `chains` are those of the known authorities by id."""
    copies: dict[bytes, list[Fact]] = {}
    for fact in facts:
        copies.setdefault(fact.body_id, []).append(fact)
    found = []
    for body_id in sorted(copies):
        attestations = [each for fact in copies[body_id] for each in fact.attest]
        on_chain = frozenset(
            each.authority
            for each in attestations
            if each.authority in chains and each.commitment in chains[each.authority].states
        )
        least = min(copies[body_id], key=lambda fact: fact.fact_id)
        found.append(Body(least, frozenset(each.authority for each in attestations), on_chain))
    return found


def is_met(body: Body, members: AbstractSet[bytes]) -> bool:
    """Return whether the required authorities attested a body, by its variant.

    - a genesis or a receipt: none; its own form or signature is enough;
    - `GuardianBinding`: account and guardian, on chain;
    - `RecoveryGrant`: the guardian, on chain;
    - `FlowCharge`: `src`; `FlowLimit`: `src` or `dst`;
    - `Capability`: the subject, or a quorum of the members;
    - every other: anyone, on chain.

    Facts that restrict count at any known state, facts that grant only on chain: an authority that loses a fork gets
    nothing back that it spent or gave up.
    """
    content = body.content
    match body.fact.variant:
        case variant if variant in _NEED_NOBODY:
            return True
        case "GuardianBinding":
            return {content["account_id"], content["guardian_id"]} <= body.on_chain
        case "RecoveryGrant":
            return content["guardian_id"] in body.on_chain
        case "FlowCharge":
            return content["src"] in body.attestors
        case "FlowLimit":
            return not body.attestors.isdisjoint((content["src"], content["dst"]))
        case "Capability":
            return content["subject"] in body.attestors or len(body.attestors) >= quorum(len(members))
    return bool(body.on_chain)

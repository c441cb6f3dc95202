"""Facts that name states of authorities: attested facts and receipts, judged by the group keys of these states."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from strandline.core.ed25519 import verify_ed25519
from strandline.core.judgement import Verdict
from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import attest_message, receipt_message
from strandline.dialects.aura.types import Fact, authority_namespace
from strandline.dialects.aura.verify.verdicts import (
    ACCEPTED,
    deferred,
    first_named,
    genesis_of,
    rejected,
    state_of,
)


@dataclass(frozen=True, slots=True)
class KnownState:
    """A state that an accepted operation made, as attestations need it; it may have lost a fork."""

    epoch: int
    group_key: bytes


KnownStates: TypeAlias = Mapping[tuple[bytes, bytes], KnownState]
"""Known states by id of the authority and commitment. They only grow, so no acceptance is withdrawn."""

_PARTIES = ("account_id", "guardian_id", "src", "dst", "subject", "authority_id")


@dataclass(frozen=True, slots=True)
class _Signature:
    authority: bytes
    commitment: bytes
    sig: bytes
    is_receipt: bool = False


def judge_attested(fact: Fact, states: KnownStates, members: AbstractSet[bytes] | None) -> Verdict:
    """Return the verdict on a fact that is neither an operation nor a `ContextGenesis`, and breaks no rule.

    `members` are those of its context, None without an accepted genesis. The first of these that fails ends the
    judgement:
    - of a context, its genesis is accepted: else deferred `CONTEXT_GENESIS_MISSING`;
    - of a context, whoever attests is a member (`ATTESTOR_NOT_MEMBER`), and so is every party that it names
      (`PARTY_NOT_MEMBER`);
    - every signature whose state is known is one of that state's group key: `ATTEST_SIGNATURE_INVALID`, even if another
      state is unknown; its evidence has all states that the fact names, so it is the same whatever came before. Else
      every state is known: deferred `AUTHORITY_STATE_MISSING`;
    - a charge that `src` attests has the epoch of the state that `src` names: `CHARGE_EPOCH`.
    """
    if fact.namespace.kind == "context":
        if members is None:
            return deferred("CONTEXT_GENESIS_MISSING", [genesis_of(fact.namespace)])
        strangers = list(_strangers(fact, members))
        if strangers:
            return rejected(strangers)
    signatures = list(_signatures(fact))
    named = [state_of(each.authority, each.commitment) for each in signatures]
    if any(_is_forged(fact, each, states) for each in signatures):
        return rejected([Finding("ATTEST_SIGNATURE_INVALID", {"states": first_named(named)})])
    missing = [
        state_of(each.authority, each.commitment)
        for each in signatures
        if (each.authority, each.commitment) not in states
    ]
    if missing:
        return deferred("AUTHORITY_STATE_MISSING", missing, named)
    wrong = list(_wrong_epochs(fact, states))
    return rejected(wrong) if wrong else ACCEPTED


def _strangers(fact: Fact, members: AbstractSet[bytes]) -> Iterator[Finding]:
    for each in fact.attest:
        if each.authority not in members:
            yield Finding("ATTESTOR_NOT_MEMBER", {"actual": authority_namespace(each.authority)})
    for name in _PARTIES:
        if name in fact.content and fact.content[name] not in members:
            yield Finding(
                "PARTY_NOT_MEMBER", {"field": name, "actual": authority_namespace(fact.content[name])}
            )


def _signatures(fact: Fact) -> Iterator[_Signature]:
    for each in fact.attest:
        yield _Signature(each.authority, each.commitment, each.sig)
    if fact.kind == "RendezvousReceipt":
        content = fact.content
        yield _Signature(
            content["authority_id"], content["commitment"], content["signature"], is_receipt=True
        )


def _is_forged(fact: Fact, signature: _Signature, states: KnownStates) -> bool:
    state = states.get((signature.authority, signature.commitment))
    if state is None:
        return False
    message_of = receipt_message if signature.is_receipt else attest_message
    message = message_of(fact.body_id, signature.authority, signature.commitment, state.group_key)
    return not verify_ed25519(state.group_key, message, signature.sig)


def _wrong_epochs(fact: Fact, states: KnownStates) -> Iterator[Finding]:
    if fact.variant != "FlowCharge":
        return
    for each in fact.attest:
        epoch = states[each.authority, each.commitment].epoch
        if each.authority == fact.content["src"] and epoch != fact.content["epoch"]:
            yield Finding("CHARGE_EPOCH", {"expected": str(epoch), "actual": str(fact.content["epoch"])})

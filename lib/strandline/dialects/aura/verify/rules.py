"""Phase 2: what a fact must hold by its own values. Every reason that applies is reported."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from strandline.core.ed25519 import has_prime_order
from strandline.core.verdict import Evidence, Finding, shown
from strandline.dialects.aura.codec import canonical, context_digest
from strandline.dialects.aura.types import (
    MAX_SUPERSEDED,
    OP_VERSION,
    SUITE,
    ZERO,
    AttestedOp,
    ChangePolicy,
    Fact,
    Genesis,
    KeyRecord,
    Policy,
    RotateEpoch,
)

_KINDS_OF: Final = {
    "authority": frozenset({"AttestedOp", "Snapshot", "RendezvousReceipt"}),
    "context": frozenset({"Relational", "Snapshot", "RendezvousReceipt"}),
}
_RESERVED_TYPE: Final = "consensus"
_RESERVED_PREFIX: Final = "strandline/"


def rule_findings(fact: Fact) -> list[Finding]:
    """Return the rules that a fact breaks by itself; nothing if none.

    These hold for all facts, each with its code:
    - its kind belongs to its namespace: `CONTENT_NAMESPACE`;
    - operations and receipts, which carry a signature, have no attestations: `ATTEST_NOT_ALLOWED`; snapshots and
      relational facts have some, except `ContextGenesis`: `ATTEST_MISSING`;
    - only the authority itself attests, and signs receipts, in its namespace: `ATTESTOR_NOT_SELF`.

    Then those of operations (`OP_VERSION`, `GENESIS_PARENT`, `PARENT_ZERO`, `SUITE_UNSUPPORTED`, `KEY_RECORD_INVALID`,
    `GROUP_KEY_INVALID`, `POLICY_NOT_NORMAL`), of relational facts (`CONTEXT_MISMATCH`, `CONTEXT_GENESIS_FORM`,
    `EPOCH_NOT_SUCCESSOR`, `PARTY_SELF`, `CHARGE_CHAIN`, `BINDING_TYPE_RESERVED`) and of snapshots
    (`SNAPSHOT_TOO_LARGE`).
    """
    return [Finding(code, evidence) for code, evidence in _broken(fact)]


_Broken = Iterator[tuple[str, Evidence]]


def _broken(fact: Fact) -> _Broken:
    if fact.kind not in _KINDS_OF[fact.namespace.kind]:
        yield "CONTENT_NAMESPACE", {"namespace": fact.namespace.kind, "actual": fact.kind}
    yield from _attestation_rules(fact)
    if fact.attested is not None:
        yield from _op_rules(fact.attested)
    elif fact.kind == "Relational":
        yield from _relational_rules(fact)
    elif fact.kind == "Snapshot":
        count = len(fact.content["superseded_facts"])
        if count > MAX_SUPERSEDED:
            yield "SNAPSHOT_TOO_LARGE", {"expected": MAX_SUPERSEDED, "actual": count}


def _attestation_rules(fact: Fact) -> _Broken:
    is_signed = fact.kind in ("AttestedOp", "RendezvousReceipt")
    if is_signed and fact.attest:
        yield "ATTEST_NOT_ALLOWED", {"actual": len(fact.attest)}
    if not is_signed and not fact.attest and fact.variant != "ContextGenesis":
        yield "ATTEST_MISSING", {"field": "attest"}
    if fact.namespace.kind == "authority":
        signers = [each.authority for each in fact.attest]
        if fact.kind == "RendezvousReceipt":
            signers.append(fact.content["authority_id"])
        strangers = [each for each in signers if each != fact.namespace.id]
        if strangers:
            yield "ATTESTOR_NOT_SELF", {"expected": fact.namespace.id.hex(), "actual": strangers[0].hex()}


def _op_rules(attested: AttestedOp) -> _Broken:
    op = attested.op
    if op.version != OP_VERSION:
        yield "OP_VERSION", {"expected": OP_VERSION, "actual": op.version}
    operation = op.operation
    if isinstance(operation, Genesis):
        if op.parent_epoch or op.parent_commitment != ZERO:
            yield "GENESIS_PARENT", {"field": "parent_commitment" if not op.parent_epoch else "parent_epoch"}
        if operation.suite != SUITE:
            yield "SUITE_UNSUPPORTED", {"expected": SUITE, "actual": operation.suite}
        yield from _key_rules(operation.key)
        yield from _policy_rules(operation.policy)
        return
    if op.parent_commitment == ZERO:
        yield "PARENT_ZERO", {"field": "parent_commitment"}
    if isinstance(operation, RotateEpoch) and operation.key is not None:
        yield from _key_rules(operation.key)
    if isinstance(operation, ChangePolicy):
        yield from _policy_rules(operation.new_policy)


def _key_rules(key: KeyRecord) -> _Broken:
    if not 1 <= key.min_signers <= key.max_signers:
        yield "KEY_RECORD_INVALID", {"min_signers": key.min_signers, "max_signers": key.max_signers}
    if not has_prime_order(key.group_key):
        yield "GROUP_KEY_INVALID", {"actual": key.group_key.hex()}


def _policy_rules(policy: Policy) -> _Broken:
    if policy.kind == "Threshold" and not 1 <= policy.m < policy.n:
        yield "POLICY_NOT_NORMAL", {"actual": str(policy)}


def _relational_rules(fact: Fact) -> _Broken:
    content = _placed(fact.content)
    for name in ("context", "context_id"):
        if name in content and content[name] != fact.namespace.id:
            yield "CONTEXT_MISMATCH", {
                "field": name, "expected": fact.namespace.id.hex(), "actual": content[name].hex()
            }  # fmt: skip
    rules = _RULES.get(fact.variant)
    if rules is not None:
        yield from rules(content)
    if fact.variant == "ContextGenesis":
        yield from _context_genesis_rules(fact)


def _placed(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of a relational fact with those that say where an AMP transition belongs."""
    placed: Mapping[str, Any] = content.get("identity", content.get("parent", content))
    return placed


def _context_genesis_rules(fact: Fact) -> _Broken:
    digest = context_digest(canonical(fact.content))
    if fact.order != digest or fact.value["timestamp"] != {"OrderClock": digest} or fact.attest:
        yield "CONTEXT_GENESIS_FORM", {"expected": digest.hex(), "actual": fact.order.hex()}


def _bump_rules(content: Mapping[str, Any]) -> _Broken:
    if content["new_epoch"] != content["parent_epoch"] + 1:
        epochs = {"expected": str(content["parent_epoch"] + 1), "actual": str(content["new_epoch"])}
        yield "EPOCH_NOT_SUCCESSOR", epochs


def _transition_rules(identity: Mapping[str, Any]) -> _Broken:
    if identity["successor_epoch"] != identity["parent_epoch"] + 1:
        epochs = {"expected": str(identity["parent_epoch"] + 1), "actual": str(identity["successor_epoch"])}
        yield "EPOCH_NOT_SUCCESSOR", epochs


def _binding_rules(content: Mapping[str, Any]) -> _Broken:
    if content["account_id"] == content["guardian_id"]:
        yield "PARTY_SELF", {"field": "guardian_id"}


def _flow_rules(content: Mapping[str, Any]) -> _Broken:
    if content["src"] == content["dst"]:
        yield "PARTY_SELF", {"field": "dst"}


def _charge_rules(content: Mapping[str, Any]) -> _Broken:
    yield from _flow_rules(content)
    if (content["nonce"] == 0) != (content["prev"] == ZERO):
        yield "CHARGE_CHAIN", {"nonce": str(content["nonce"]), "prev": content["prev"].hex()}


def _generic_rules(content: Mapping[str, Any]) -> _Broken:
    name = content["binding_type"]
    if name == _RESERVED_TYPE or name.startswith(_RESERVED_PREFIX):
        yield "BINDING_TYPE_RESERVED", {"actual": shown(name)}


_RULES: Final[Mapping[str, Callable[[Mapping[str, Any]], _Broken]]] = {
    "AmpProposedChannelEpochBump": _bump_rules,
    "AmpCommittedChannelEpochBump": _bump_rules,
    "AmpTransitionProposed": _transition_rules,
    "AmpTransitionCertified": _transition_rules,
    "AmpTransitionFinalized": _transition_rules,
    "GuardianBinding": _binding_rules,
    "RecoveryGrant": _binding_rules,
    "FlowLimit": _flow_rules,
    "FlowCharge": _charge_rules,
    "Generic": _generic_rules,
}

"""Admission of facts of any namespaces: operations first, then the genesis of contexts, then what attests states."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from strandline.core.judgement import Verdict
from strandline.core.verdict import Finding
from strandline.dialects.aura.types import ID_BYTES, Fact, Namespace
from strandline.dialects.aura.verify.accepted import AcceptedOp, PrunedOps
from strandline.dialects.aura.verify.attestations import KnownState, KnownStates, judge_attested
from strandline.dialects.aura.verify.authorities import admit_operations
from strandline.dialects.aura.verify.rules import rule_findings
from strandline.dialects.aura.verify.verdicts import ACCEPTED, deferred, pin_of, rejected


@dataclass(slots=True)
class Admission:
    """Verdicts on the candidates by fact id, and the results of all accepted facts.

    `operations` by fact id; `states` by id of the authority and commitment; `geneses` of contexts by namespace.
    """

    verdicts: dict[bytes, Verdict] = field(default_factory=dict)
    operations: dict[bytes, AcceptedOp] = field(default_factory=dict)
    states: dict[tuple[bytes, bytes], KnownState] = field(default_factory=dict)
    geneses: dict[Namespace, Fact] = field(default_factory=dict)


def admit(
    candidates: Iterable[Fact],
    accepted: Iterable[Fact] = (),
    pins: Mapping[str, bytes] | None = None,
    pruned: Mapping[Namespace, PrunedOps] | None = None,
    states: KnownStates | None = None,
) -> Admission:
    """Return the verdicts on facts of any namespaces, given the accepted ones, and pins and pruned ones by namespace.

    `states` are further known states, which no accepted operation made.

    A verdict depends on the fact, the facts that it descends from and the pins, and for a genesis on the accepted one
    of its namespace. It never depends on order. Facts wait only for facts of an earlier pass, so one call decides all
    that it can.
    """
    found = Admission(states=dict(states or {}))
    known = {fact.fact_id: fact for fact in accepted}
    fresh: dict[bytes, Fact] = {}
    for fact in candidates:
        if fact.fact_id in known:
            found.verdicts[fact.fact_id] = ACCEPTED
        elif findings := rule_findings(fact):
            found.verdicts[fact.fact_id] = rejected(findings)
        else:
            fresh[fact.fact_id] = fact
    _admit_operations(found, fresh, known, pins or {}, pruned or {})
    _admit_geneses(found, fresh, known, pins or {})
    for fact in fresh.values():
        if fact.attested is None and fact.variant != "ContextGenesis":
            genesis = found.geneses.get(fact.namespace)
            members = None if genesis is None else frozenset(genesis.content["members"])
            found.verdicts[fact.fact_id] = judge_attested(fact, found.states, members)
    return found


def _by_namespace(facts: Mapping[bytes, Fact], variant: str | None) -> dict[Namespace, list[Fact]]:
    """Return the operations, or the facts of a variant, by namespace."""
    by_namespace: dict[Namespace, list[Fact]] = {}
    for fact in facts.values():
        if (fact.attested is not None) if variant is None else fact.variant == variant:
            by_namespace.setdefault(fact.namespace, []).append(fact)
    return by_namespace


def _admit_operations(
    found: Admission,
    fresh: Mapping[bytes, Fact],
    known: Mapping[bytes, Fact],
    pins: Mapping[str, bytes],
    pruned: Mapping[Namespace, PrunedOps],
) -> None:
    new, old = _by_namespace(fresh, None), _by_namespace(known, None)
    for namespace in {**old, **new, **pruned}:
        pruned_ops = pruned.get(namespace)
        admitted = admit_operations(
            namespace, new.get(namespace, ()), old.get(namespace, ()), pins.get(namespace.text), pruned_ops
        )
        found.verdicts |= admitted.verdicts
        found.operations |= admitted.operations
        for each in (*admitted.operations.values(), *(pruned_ops.states() if pruned_ops else ())):
            state = KnownState(each.new_epoch, each.new_group_key)
            found.states[namespace.id, each.new_commitment] = state


def _admit_geneses(
    found: Admission, fresh: Mapping[bytes, Fact], known: Mapping[bytes, Fact], pins: Mapping[str, bytes]
) -> None:
    """Judge the genesis facts of contexts, whose `order` is the digest of their context.

    With a pin or an accepted genesis, the digest must be that one: else `GENESIS_PIN_MISMATCH`. With neither, its first
    16 bytes must be the context id: else deferred `GENESIS_UNPINNED`.
    """
    for namespace, facts in _by_namespace(known, "ContextGenesis").items():
        found.geneses[namespace] = facts[0]
    for namespace, facts in _by_namespace(fresh, "ContextGenesis").items():
        pin = pins.get(namespace.text)
        for fact in sorted(facts, key=lambda fact: (fact.order != pin and not _is_derived(fact), fact.order)):
            accepted = found.geneses.get(namespace)
            expected = pin if pin is not None or accepted is None else accepted.order
            if expected is None and not _is_derived(fact):
                found.verdicts[fact.fact_id] = deferred("GENESIS_UNPINNED", [pin_of(namespace)])
            elif expected is not None and expected != fact.order:
                evidence = {"expected": expected.hex(), "actual": fact.order.hex()}
                found.verdicts[fact.fact_id] = rejected([Finding("GENESIS_PIN_MISMATCH", evidence)])
            else:
                found.verdicts[fact.fact_id] = ACCEPTED
                found.geneses[namespace] = fact


def _is_derived(genesis: Fact) -> bool:
    return genesis.order[:ID_BYTES] == genesis.namespace.id

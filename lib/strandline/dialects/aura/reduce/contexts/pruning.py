"""The prunable facts of a context, and the proof that pruning them changes no result.

Three kinds of bodies are prunable: charges, whose sum the carry keeps, and checkpoints and proposed bumps that no later
fact can make relevant again. The final view decides: the state of the context by those states of members that a
snapshot in force has made final. Without such snapshots only charges are prunable.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from strandline.core.pruning import (
    DEFAULT_SKIP_WINDOW,
    Member,
    Plan,
    Proof,
    compare_rows,
)
from strandline.dialects.aura.reduce.contexts.bodies import AuthorityChain, Body, bodies_of
from strandline.dialects.aura.reduce.contexts.flows import Flow
from strandline.dialects.aura.reduce.contexts.holds import GENERATION_OF, Holds
from strandline.dialects.aura.reduce.contexts.rows import binding_row, row_hash
from strandline.dialects.aura.reduce.contexts.skeletons import (
    CHARGE,
    carried,
    decode_carry,
    encode_carry,
    encode_skeleton,
)
from strandline.dialects.aura.reduce.contexts.state import RelationalState, reduce_context
from strandline.dialects.aura.reduce.contexts.transitions import VARIANTS as TRANSITIONS
from strandline.dialects.aura.types import Fact, Namespace


@dataclass(frozen=True, slots=True)
class Pruned:
    """The pruned bodies of a context: the sums of its charges, and the ids of all bodies."""

    carry: tuple[Flow, ...] = ()
    absorbed: frozenset[bytes] = frozenset()


def plan_context(
    namespace: Namespace,
    facts: Iterable[Fact],
    chains: Mapping[bytes, AuthorityChain],
    finals: Mapping[bytes, AuthorityChain],
    pruned: Pruned | None = None,
    skip_window: int = DEFAULT_SKIP_WINDOW,
) -> Plan:
    """Return which stored facts of a context are prunable, with all copies of their bodies, and the carry after that.

    `finals` are, of members with a snapshot in force, the states up to its base; `pruned` are the bodies pruned before.
    A copy of a pruned body is always prunable. For other bodies the first rule (hold) that applies keeps the body:
    - `KIND_KEPT`: it is no charge, checkpoint or proposed bump;
    - `RECEIPT_REFERENCE`: a receipt names it or a copy of it;
    - `PENDING_CONSENSUS`: a consensus that is not proven in the final view is about it, or a commit that is not proven
      there chose it;
    - `UNMET`: a charge that its sender has not attested but still may attest;
    - `WINDOW`: its generation is not below the boundary: of a channel by its own window, of charges by `skip_window`;
    - `EPOCH_OPEN`: a proposal whose epoch the channel has not left;
    - `EPOCH_END`, `EPOCH_START`: no met checkpoint of its epoch has a greater generation, or a lesser (generation, id);
    - `NOT_FINAL`: replaces the last three, and `WINDOW` of a channel, if the ordinary view frees the body but the final
      view does not, or lacks the channel.
    """
    before = pruned or Pruned()
    held = list(facts)
    ordinary = reduce_context(namespace, held, chains, before.carry, before.absorbed)
    # Without AMP transitions: an epoch that only proven bumps lead to is never taken back.
    lasting = [fact for fact in held if fact.variant not in TRANSITIONS]
    final = reduce_context(namespace, lasting, finals, before.carry, before.absorbed)
    holds = Holds(ordinary, final, held, skip_window)
    reasons = {body.body_id: holds.of(body) for body in ordinary.bodies}
    copies = {body.body_id: body for body in bodies_of(held, chains)}
    members = tuple(
        _member(copies[fact.body_id], fact, reasons.get(fact.body_id))
        for fact in sorted(held, key=lambda fact: fact.fact_id)
    )
    charges = [
        body for body in ordinary.bodies if body.fact.variant == CHARGE and reasons[body.body_id] is None
    ]
    return Plan(members, encode_carry(carried(charges, before.carry)))


def prove_context(
    namespace: Namespace,
    facts: Iterable[Fact],
    chains: Mapping[bytes, AuthorityChain],
    plan: Plan,
    pruned: Pruned | None = None,
) -> Proof:
    """Reduce a context from all stored facts and from those that the plan keeps; compare states and rows."""
    before = pruned or Pruned()
    held = list(facts)
    chosen = {each.record_id for each in plan.prune}
    absorbed = {each.alt_id for each in plan.prune if each.alt_id is not None}
    old = reduce_context(namespace, held, chains, before.carry, before.absorbed)
    kept = [fact for fact in held if fact.fact_id not in chosen]
    new = reduce_context(namespace, kept, chains, decode_carry(plan.carry), before.absorbed | absorbed)
    return Proof(old.state_hash, new.state_hash, compare_rows(reduced_rows(old), reduced_rows(new)))


def reduced_rows(state: RelationalState) -> dict[str, dict[str, object]]:
    """Return the rows of the reduced tables of a context by table and key."""
    return {
        "relational_binding": {row_hash(binding_row(each)).hex(): each for each in state.bindings},
        "flow_budget": {
            f"{each.key.src.hex()} {each.key.dst.hex()} {each.key.epoch}": each for each in state.flows
        },
        "channel_epoch": {each.channel.hex(): each for each in state.channels},
        "capability": {each.subject.hex(): each for each in state.capabilities},
    }


def _member(body: Body, fact: Fact, hold: str | None) -> Member:
    name = GENERATION_OF.get(fact.variant)
    return Member(
        record_id=fact.fact_id,
        kind=fact.variant,
        generation=None if name is None else fact.content[name],
        hold=hold,
        alt_id=body.body_id,
        skeleton=encode_skeleton(body) if hold is None else None,
    )

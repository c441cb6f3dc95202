"""The relational state of a context, as a pure function of its accepted facts and the chains of its members."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from strandline.dialects.aura.reduce.contexts.bindings import Binding, bindings_of, proven_pairs
from strandline.dialects.aura.reduce.contexts.bodies import AuthorityChain, Body, bodies_of, is_met
from strandline.dialects.aura.reduce.contexts.capabilities import Cap, cap_of, meet_all
from strandline.dialects.aura.reduce.contexts.channels import Channel, channels_of
from strandline.dialects.aura.reduce.contexts.flows import Flow, FlowKey, flows_of
from strandline.dialects.aura.reduce.contexts.rows import (
    binding_row,
    capability_row,
    channel_row,
    flow_rows,
    state_hash,
)
from strandline.dialects.aura.reduce.journal import AuthorityAsContext
from strandline.dialects.aura.types import Fact, Namespace


@dataclass(frozen=True, slots=True)
class Capability:
    """What a subject may do, and the number of refinements that say so."""

    subject: bytes
    cap: Cap
    refinements: int


@dataclass(frozen=True)
class RelationalState:
    """The state of a context.

    `bindings` are ascending by the bytes of their rows, the others by their keys. `bodies` are all of the context,
    `met` those that count. `tips` are the members whose journals are known, with the commitment of their tip.
    """

    namespace: Namespace
    members: frozenset[bytes]
    bindings: tuple[Binding, ...]
    flows: tuple[Flow, ...]
    channels: tuple[Channel, ...]
    capabilities: tuple[Capability, ...]
    bodies: tuple[Body, ...] = field(repr=False)
    met: Mapping[str, list[Body]] = field(repr=False)
    tips: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def flow_budgets(self) -> dict[FlowKey, int]:
        """What was spent, by (src, dst, epoch)."""
        return {each.key: each.spent for each in self.flows if each.charges}

    @property
    def channel_epochs(self) -> dict[bytes, Channel]:
        """The channels by id."""
        return {each.channel: each for each in self.channels}

    @cached_property
    def rows(self) -> list[bytes]:
        """The canonical rows: bindings, budgets and limits, channels, capabilities."""
        return [
            *map(binding_row, self.bindings),
            *(row for each in self.flows for row in flow_rows(each)),
            *map(channel_row, self.channels),
            *(capability_row(each.subject, each.cap) for each in self.capabilities),
        ]

    @cached_property
    def state_hash(self) -> bytes:
        """State hash of the namespace, 32 bytes."""
        return state_hash(self.namespace, self.rows)


def reduce_context(
    namespace: Namespace,
    facts: Iterable[Fact],
    chains: Mapping[bytes, AuthorityChain],
    carried: Iterable[Flow] = (),
    absorbed: Iterable[bytes] = (),
) -> RelationalState:
    """Return the state of a context from its accepted facts: the reference. No order of facts makes a difference.

    `chains` are those of known authorities by id. `carried` adds up charges that were pruned, and `absorbed` are the
    ids of pruned bodies: copies of them do not count again. Without its genesis a context has no members, and nothing
    is met.

    Raises:
        AuthorityAsContext: the namespace is an authority.
    """
    if namespace.kind == "authority":
        raise AuthorityAsContext(namespace)
    pruned = frozenset(absorbed)
    bodies = [body for body in bodies_of(facts, chains) if body.body_id not in pruned]
    genesis = next((body for body in bodies if body.fact.variant == "ContextGenesis"), None)
    members = frozenset(() if genesis is None else genesis.content["members"])
    met: dict[str, list[Body]] = {}
    for body in bodies if members else ():
        if is_met(body, members):
            met.setdefault(body.fact.variant, []).append(body)
    proven = proven_pairs(met, len(members))
    return RelationalState(
        namespace=namespace,
        members=members,
        bindings=tuple(sorted(bindings_of(met, proven), key=binding_row)),
        flows=tuple(flows_of(met, carried)),
        channels=tuple(channels_of(namespace.id, met, proven.keys(), len(members))),
        capabilities=tuple(_capabilities(met.get("Capability", ()))),
        bodies=tuple(bodies),
        met=met,
        tips=tuple((each, chains[each].tip) for each in sorted(members & chains.keys())),
    )


def _capabilities(refinements: Iterable[Body]) -> list[Capability]:
    of_subject: dict[bytes, list[Cap]] = {}
    for body in refinements:
        of_subject.setdefault(body.content["subject"], []).append(cap_of(body.content))
    return [
        Capability(each, meet_all(of_subject[each]), len(of_subject[each])) for each in sorted(of_subject)
    ]

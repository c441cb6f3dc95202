"""The rules that keep the bodies of a context from being pruned."""

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from strandline.core.pruning import compute_checkpoint_pruning_boundary
from strandline.dialects.aura.reduce.contexts.bindings import proven_pairs
from strandline.dialects.aura.reduce.contexts.bodies import Body
from strandline.dialects.aura.reduce.contexts.channels import CHECKPOINT, COMMITTED, PROPOSED, bump_hash
from strandline.dialects.aura.reduce.contexts.flows import FlowKey
from strandline.dialects.aura.reduce.contexts.skeletons import CHARGE
from strandline.dialects.aura.reduce.contexts.state import RelationalState
from strandline.dialects.aura.types import Fact

_CONSENSUS: Final = "Consensus"
GENERATION_OF: Final = {CHECKPOINT: "base_gen", CHARGE: "nonce", PROPOSED: "parent_epoch"}
"""The kinds that can go, and the member that is their generation."""


def can_prune_checkpoint(base_gen: int, boundary: int) -> bool:
    """Return whether a checkpoint lies below the boundary: necessary, not sufficient."""
    return base_gen < boundary


def can_prune_proposed_bump(parent_epoch: int, committed_gen: int) -> bool:
    """Return whether a proposed bump is behind the channel's epoch, the end of its gapless walk: necessary."""
    return parent_epoch < committed_gen


class View:
    """Channels and the ends of their epochs in one view of a context."""

    def __init__(self, state: RelationalState) -> None:
        self.channels = state.channel_epochs
        self.checkpoints = state.met.get(CHECKPOINT, [])

    def hold(self, body: Body) -> str | None:
        """Return what keeps a checkpoint or proposal of a known channel in this view."""
        content, channel = body.content, self.channels[body.content["channel"]]
        if body.fact.variant == PROPOSED:
            is_free = can_prune_proposed_bump(content["parent_epoch"], channel.epoch)
            return None if is_free else "EPOCH_OPEN"
        boundary = compute_checkpoint_pruning_boundary(channel.last, channel.window)
        if not can_prune_checkpoint(content["base_gen"], boundary):
            return "WINDOW"
        if not self.has_later(body):
            return "EPOCH_END"
        return None if self.has_earlier(body) else "EPOCH_START"

    def has_later(self, body: Body) -> bool:
        """Return whether a met checkpoint of the epoch has a greater generation."""
        return _place(body)[0] < self.last.get(peers_of(body), -1)

    def has_earlier(self, body: Body) -> bool:
        """Return whether a met checkpoint of the epoch has a lesser (generation, id): of equal ones one stays."""
        first = self.first.get(peers_of(body))
        return first is not None and first < _place(body)

    @cached_property
    def last(self) -> dict[tuple[bytes, int], int]:
        """The greatest generation of each epoch of a channel."""
        found: dict[tuple[bytes, int], int] = {}
        for each in self.checkpoints:
            found[peers_of(each)] = max(each.content["base_gen"], found.get(peers_of(each), -1))
        return found

    @cached_property
    def first(self) -> dict[tuple[bytes, int], tuple[int, bytes]]:
        """The least (generation, id) of each epoch of a channel."""
        found: dict[tuple[bytes, int], tuple[int, bytes]] = {}
        for each in self.checkpoints:
            found[peers_of(each)] = min(_place(each), found.get(peers_of(each), _place(each)))
        return found


def peers_of(checkpoint: Body) -> tuple[bytes, int]:
    """Return the key of checkpoints of which one is enough: channel and epoch."""
    return checkpoint.content["channel"], checkpoint.content["chan_epoch"]


def _place(checkpoint: Body) -> tuple[int, bytes]:
    return checkpoint.content["base_gen"], checkpoint.body_id


class Holds:
    """What keeps the bodies of a context."""

    def __init__(
        self, ordinary: RelationalState, final: RelationalState, facts: Iterable[Fact], skip_window: int
    ) -> None:
        self.context = ordinary.namespace.id
        self.ordinary, self.final = View(ordinary), View(final)
        self.charged = {body.body_id for body in ordinary.met.get(CHARGE, ())}
        self.tips = {each.key: each.tip for each in ordinary.flows}
        self.skip_window = skip_window
        envelopes = {
            body.content["envelope_id"]
            for body in ordinary.bodies
            if body.fact.variant == "RendezvousReceipt"
        }
        # An envelope may also be the hash of a binding's data; such bodies stay anyhow.
        self.referenced = envelopes | {fact.body_id for fact in facts if fact.fact_id in envelopes}
        proven = proven_pairs(final.met, len(final.members)) if final.members else {}
        self.pending: set[bytes] = set()
        self.chosen: set[tuple[bytes, bytes]] = set()
        for body in ordinary.bodies:
            content = body.content
            if body.fact.variant == _CONSENSUS:
                if (content["consensus_id"], content["operation_hash"]) not in proven:
                    self.pending.add(content["operation_hash"])
            elif body.fact.variant == COMMITTED:
                place = content["channel"], content["parent_epoch"], content["chosen_bump_id"]
                if (content["consensus_id"], bump_hash(self.context, *place)) not in proven:
                    self.chosen.add((content["channel"], content["chosen_bump_id"]))

    def of(self, body: Body) -> str | None:
        """Return the first rule that keeps the body, or None."""
        variant = body.fact.variant
        if variant not in GENERATION_OF:
            return "KIND_KEPT"
        if body.body_id in self.referenced:
            return "RECEIPT_REFERENCE"
        if self.is_needed(body):
            return "PENDING_CONSENSUS"
        return self.of_charge(body) if variant == CHARGE else self.of_channel(body)

    def is_needed(self, body: Body) -> bool:
        """Return whether a consensus needs the body that is not proven yet."""
        if body.body_id in self.pending:
            return True
        if body.fact.variant != PROPOSED:
            return False
        content = body.content
        agreed = bump_hash(self.context, content["channel"], content["parent_epoch"], content["bump_id"])
        return agreed in self.pending or (content["channel"], content["bump_id"]) in self.chosen

    def of_charge(self, body: Body) -> str | None:
        """Return what keeps a charge."""
        content = body.content
        if body.body_id not in self.charged:
            return "UNMET"
        tip = self.tips[FlowKey(content["src"], content["dst"], content["epoch"])]
        boundary = compute_checkpoint_pruning_boundary(0 if tip is None else tip[0], self.skip_window)
        return None if content["nonce"] < boundary else "WINDOW"

    def of_channel(self, body: Body) -> str | None:
        """Return what keeps a checkpoint or a proposal."""
        channel = body.content["channel"]
        if channel not in self.final.channels:
            return "NOT_FINAL"
        hold = self.final.hold(body)
        if hold is not None and channel in self.ordinary.channels and self.ordinary.hold(body) is None:
            return "NOT_FINAL"
        return hold

"""Channels of a context: their epoch, the checkpoint in force, the skip window, and the bump that is pending."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from strandline.core.hashing import tagged
from strandline.dialects.aura.reduce.contexts.bindings import Pair
from strandline.dialects.aura.reduce.contexts.bodies import Body
from strandline.dialects.aura.reduce.contexts.transitions import (
    Parent,
    Transitions,
    Walk,
    gravest,
    live_transition,
    transitions_of,
    walk,
)
from strandline.dialects.aura.types import Fact

DEFAULT_WINDOW: Final = 1024
REASONS: Final = ("Routine", "SuspiciousActivity", "ConfirmedCompromise")
"""Reasons of a bump, the gravest last."""

CHECKPOINT, POLICY = "AmpChannelCheckpoint", "AmpChannelPolicy"
PROPOSED, COMMITTED = "AmpProposedChannelEpochBump", "AmpCommittedChannelEpochBump"


def bump_hash(context: bytes, channel: bytes, parent_epoch: int, bump_id: bytes) -> bytes:
    """Return what a consensus over a bump to the epoch after `parent_epoch` agrees on, 32 bytes."""
    epochs = parent_epoch.to_bytes(8, "little") + (parent_epoch + 1).to_bytes(8, "little")
    return tagged("strandline/aura/op/amp-bump/1", context + channel + epochs + bump_id)


@dataclass(frozen=True, slots=True)
class PendingBump:
    """The bump that waits for its commit."""

    new_epoch: int
    bump_id: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Channel:
    """The state of a channel.

    - `epoch`: the least one that no proven commit leaves, by the walk 0, 1, 2 .. without a gap;
    - `checkpoint`: the one in force, whose generation is `last`; None without any. `is_checkpoint_disputed`: another
      met one at the same epoch and generation commits to something else;
    - `transitions`: what AMP transitions say, by what they lead away from; those of a lake without them are none;
    - `window_source`: `checkpoint`, `policy` or `default`;
    - `forks`: by parent epoch, two or more bump ids with the least fact that commits each; one step all the same;
    - `dormant` commits are proven but lie beyond a gap, `unproven` ones are met but not proven.
    """

    channel: bytes
    epoch: int
    checkpoint: Body | None
    window: int
    window_source: str
    pending: PendingBump | None
    is_checkpoint_disputed: bool
    forks: Mapping[int, Mapping[bytes, Fact]]
    dormant: int
    unproven: int
    transitions: Mapping[Parent, Transitions]

    @property
    def last(self) -> int:
        """Generation of the checkpoint in force, or 0."""
        return 0 if self.checkpoint is None else int(self.checkpoint.content["base_gen"])


def channels_of(
    context: bytes, met: Mapping[str, Sequence[Body]], proven: AbstractSet[Pair], members: int
) -> list[Channel]:
    """Return the channels that met bodies name, by id; `members` is the number of those of the context."""
    named: dict[bytes, dict[str, list[Body]]] = {}
    for variant in (CHECKPOINT, POLICY, PROPOSED, COMMITTED):
        for body in met.get(variant, ()):
            named.setdefault(body.content["channel"], {}).setdefault(variant, []).append(body)
    moves = transitions_of(met, proven, members)
    return [
        _channel(context, channel, named.get(channel, {}), proven, moves.get(channel, {}))
        for channel in sorted(named.keys() | moves.keys())
    ]


def _channel(
    context: bytes,
    channel: bytes,
    by_variant: Mapping[str, list[Body]],
    proven: AbstractSet[Pair],
    moves: Mapping[Parent, Transitions],
) -> Channel:
    commits: dict[int, dict[bytes, Fact]] = {}
    committed = []
    for body in by_variant.get(COMMITTED, ()):
        parent, bump_id = body.content["parent_epoch"], body.content["chosen_bump_id"]
        if (body.content["consensus_id"], bump_hash(context, channel, parent, bump_id)) in proven:
            least = commits.setdefault(parent, {}).setdefault(bump_id, body.fact)
            commits[parent][bump_id] = min(least, body.fact, key=lambda fact: fact.fact_id)
            committed.append(parent)
    reached = walk(commits.keys(), moves)
    epoch = reached.epoch
    checkpoints = by_variant.get(CHECKPOINT, [])
    in_force = max(
        (each for each in checkpoints if each.content["chan_epoch"] <= epoch), key=_rank, default=None
    )
    window, source = _window(in_force, by_variant.get(POLICY, ()))
    return Channel(
        channel=channel,
        epoch=epoch,
        checkpoint=in_force,
        window=window,
        window_source=source,
        pending=_live(moves, reached)
        or _pending(by_variant.get(PROPOSED, ()), epoch, _spacing(checkpoints, epoch) >= window // 2),
        is_checkpoint_disputed=in_force is not None and _is_disputed(in_force, checkpoints),
        forks={parent: bumps for parent, bumps in sorted(commits.items()) if len(bumps) > 1},
        dormant=sum(parent > epoch for parent in committed),
        unproven=len(by_variant.get(COMMITTED, ())) - len(committed),
        transitions=moves,
    )


def _rank(checkpoint: Body) -> tuple[int, int, bytes, bytes]:
    content = checkpoint.content
    return content["chan_epoch"], content["base_gen"], content["ck_commitment"], checkpoint.body_id


def _is_disputed(in_force: Body, checkpoints: Iterable[Body]) -> bool:
    place = _rank(in_force)[:2]
    claims = {each.content["ck_commitment"] for each in checkpoints if _rank(each)[:2] == place}
    return len(claims) > 1


def _window(in_force: Body | None, policies: Iterable[Body]) -> tuple[int, str]:
    """Return the skip window, and what it comes from."""
    if in_force is not None and in_force.content["skip_window_override"] is not None:
        return in_force.content["skip_window_override"], "checkpoint"
    stated = [each.content["skip_window"] for each in policies if each.content["skip_window"] is not None]
    return (min(stated), "policy") if stated else (DEFAULT_WINDOW, "default")


def _spacing(checkpoints: Iterable[Body], epoch: int) -> int:
    generations = [each.content["base_gen"] for each in checkpoints if each.content["chan_epoch"] == epoch]
    return max(generations) - min(generations) if generations else 0


def _live(moves: Mapping[Parent, Transitions], reached: Walk) -> PendingBump | None:
    """Return the live transition from this epoch, with the gravest reason that a proposal of it gives."""
    found = live_transition(moves, reached)
    return None if found is None else PendingBump(reached.epoch + 1, found[0], gravest(found[1], REASONS))


def _pending(proposed: Iterable[Body], epoch: int, is_spaced: bool) -> PendingBump | None:
    """Return the proposal for this epoch with the gravest reason, of these the least bump id.

    A routine one waits until the checkpoints of the epoch are half a window apart.
    """
    candidates = [
        (-REASONS.index(each.content["reason"]), each.content["bump_id"])
        for each in proposed
        if each.content["parent_epoch"] == epoch and (is_spaced or each.content["reason"] != "Routine")
    ]
    if not candidates:
        return None
    gravity, bump_id = min(candidates)
    return PendingBump(epoch + 1, bump_id, REASONS[-gravity])

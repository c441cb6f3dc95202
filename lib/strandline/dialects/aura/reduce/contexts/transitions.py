"""AMP transitions of a channel: which are certified or finalized, and the epochs that follow.

No hash breaks a tie: two certificates of one parent make neither live, and two finalizations stop the channel.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from strandline.core.hashing import tagged
from strandline.dialects.aura.codec import canonical
from strandline.dialects.aura.codec.transitions import TRANSITION_IDENTITY, TRANSITIONS
from strandline.dialects.aura.reduce.contexts.bindings import Pair
from strandline.dialects.aura.reduce.contexts.bodies import Body, quorum

TransitionStatus: TypeAlias = Literal[
    "A3Conflict", "A3Finalized", "A2Live", "A2Conflict", "Superseded", "Aborted", "Observed"
]

VARIANTS: Final = tuple(TRANSITIONS)
_PROPOSED, _CERTIFIED, _FINALIZED, _ABORT, _CONFLICT, _ALARM, _SUPERSESSION = VARIANTS
AND_A3: Final = "A2AndA3"


class Parent(NamedTuple):
    """The parent of transitions: channel, epoch and commitment."""

    epoch: int
    commitment: bytes


def transition_id(identity: Mapping[str, Any]) -> bytes:
    """Return the id of a transition, 32 bytes, from its identity; its members may be in any order.

    Raises:
        ValueError: it has not the form of an identity.
    """
    return tagged(
        "strandline/aura/amp-transition/1", canonical(TRANSITION_IDENTITY.from_cbor(dict(identity)))
    )


@dataclass(slots=True)
class Transitions:
    """The transitions from one parent, by transition id.

    `certified` has a quorum, `finalized` a proven consensus over its id; the value is the commitment that it leads to.
    `dropped` are named by an abort or a supersession with a quorum, `dropped_a3` by one that reaches finalized ones.
    `reasons` are those of proposals. An alarm is no proposal.
    """

    certified: dict[bytes, bytes] = field(default_factory=dict)
    finalized: dict[bytes, bytes] = field(default_factory=dict)
    reasons: dict[bytes, set[str]] = field(default_factory=dict)
    dropped: set[bytes] = field(default_factory=set)
    dropped_a3: set[bytes] = field(default_factory=set)
    has_conflict: bool = False
    is_superseded: bool = False
    is_aborted: bool = False

    @property
    def live(self) -> dict[bytes, bytes]:
        """C: certified ones that nothing dropped."""
        return {id_: to for id_, to in self.certified.items() if id_ not in self.dropped}

    @property
    def final(self) -> dict[bytes, bytes]:
        """F: finalized ones that nothing dropped."""
        return {id_: to for id_, to in self.finalized.items() if id_ not in self.dropped_a3}

    @property
    def status(self) -> TransitionStatus:
        """The first of these that applies.

        - `A3Conflict`: more than one is final, or some are live, and the final one is none of them;
        - `A3Finalized`: one is final;
        - `A2Live`: one is live, and no conflict is certified; `A2Conflict`: a conflict, or more than one is live;
        - `Superseded`, `Aborted`: a quorum says so; `Observed`: nothing counts yet.
        """
        live, final = self.live, self.final
        if len(final) > 1 or (final and live and not final.keys() <= live.keys()):
            return "A3Conflict"
        if final:
            return "A3Finalized"
        if live or self.has_conflict:
            return "A2Live" if len(live) == 1 and not self.has_conflict else "A2Conflict"
        return "Superseded" if self.is_superseded else "Aborted" if self.is_aborted else "Observed"


def transitions_of(
    met: Mapping[str, Sequence[Body]], proven: AbstractSet[Pair], members: int
) -> dict[bytes, dict[Parent, Transitions]]:
    """Return what met bodies say about transitions, by channel and parent.

    A proposal and an alarm need any member on chain, like every met body. A certificate, an abort, a conflict and a
    supersession need a quorum on chain: else one forged fact could stop a channel. A finalization needs a proven
    consensus over its transition.
    """
    found: dict[bytes, dict[Parent, Transitions]] = {}
    needed = quorum(members)
    for variant in VARIANTS:
        for body in met.get(variant, ()):
            placed = body.content.get("identity", body.content.get("parent"))
            parent = Parent(placed["parent_epoch"], placed["parent_commitment"])
            at = found.setdefault(placed["channel"], {}).setdefault(parent, Transitions())
            if variant in (_PROPOSED, _CERTIFIED, _FINALIZED):
                _identified(at, variant, body, proven, needed)
            elif variant != _ALARM and len(body.on_chain) >= needed:
                _quorate(at, variant, body.content)
    return found


def _identified(at: Transitions, variant: str, body: Body, proven: AbstractSet[Pair], needed: int) -> None:
    identity = body.content["identity"]
    id_, to = transition_id(identity), identity["successor_commitment"]
    if variant == _PROPOSED:
        at.reasons.setdefault(id_, set()).add(body.content["reason"])
    elif variant == _CERTIFIED and len(body.on_chain) >= needed:
        at.certified[id_] = to
    elif variant == _FINALIZED and (body.content["consensus_id"], id_) in proven:
        at.finalized[id_] = to


def _quorate(at: Transitions, variant: str, content: Mapping[str, Any]) -> None:
    if variant == _CONFLICT:
        at.has_conflict = True
        return
    named = content["transition_id" if variant == _ABORT else "superseded"]
    at.dropped.add(named)
    if content["scope"] == AND_A3:
        at.dropped_a3.add(named)
    if variant == _ABORT:
        at.is_aborted = True
    else:
        at.is_superseded = True


@dataclass(frozen=True, slots=True)
class Walk:
    """Where the epochs of a channel lead: to `epoch`, whose state is `commitment`, or None if a bump led there."""

    epoch: int
    commitment: bytes | None


def walk(commits: AbstractSet[int], at: Mapping[Parent, Transitions]) -> Walk:
    """Return where proven bumps and finalized transitions lead, from epoch 0 without a gap.

    A transition leads on if its parent is finalized and has the commitment that the transition before it led to; After
    a bump and at epoch 0 the commitment is unknown: any parent is accepted if it is the only one. Where nothing
    finalized leads on, a bump does.
    """
    steps: dict[int, list[tuple[bytes, bytes]]] = {}
    for parent, found in at.items():
        if found.status == "A3Finalized":
            steps.setdefault(parent.epoch, []).extend((parent.commitment, to) for to in found.final.values())
    epoch, commitment = 0, None
    while True:
        fits = [to for before, to in steps.get(epoch, ()) if commitment is None or before == commitment]
        if len(fits) == 1:
            commitment = fits[0]
        elif epoch in commits:
            commitment = None
        else:
            return Walk(epoch, commitment)
        epoch += 1


def live_transition(at: Mapping[Parent, Transitions], reached: Walk) -> tuple[bytes, AbstractSet[str]] | None:
    """Return the live transition from the current epoch of a channel and the reasons of its proposals, or None."""
    found: list[tuple[bytes, AbstractSet[str]]] = [
        (id_, each.reasons.get(id_, set()))
        for parent, each in at.items()
        if each.status == "A2Live"
        and parent.epoch == reached.epoch
        and reached.commitment in (None, parent.commitment)
        for id_ in each.live
    ]
    return found[0] if len(found) == 1 else None


def gravest(reasons: Iterable[str], order: Sequence[str]) -> str:
    """Return the last of the given reasons in this order, or its first if there is none."""
    return max(reasons, key=order.index, default=order[0])

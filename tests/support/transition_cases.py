"""AMP transitions of a channel of the second context, by short names."""

from strandline.dialects.aura import author
from strandline.dialects.aura.reduce.contexts.transitions import transition_id
from support.aura_cases import CHANNEL, at, attested, b32
from support.context_cases import NAMESPACE, of_context


def parent(epoch=0, commitment=0x40, *, channel=CHANNEL, context=NAMESPACE):
    return {
        "context": context.id,
        "channel": channel,
        "parent_epoch": epoch,
        "parent_commitment": b32(commitment),
    }


def identity(number, epoch=0, commitment=0x40, **more):
    """The transition of this number from a parent: the number is the commitment that it leads to."""
    return {
        **parent(epoch, commitment), "successor_epoch": epoch + 1, "successor_commitment": b32(number),
        "membership_commitment": b32(0x60), "transition_policy": "NormalTransition", **more,
    }  # fmt: skip


def _fact(number, variant, by, content):
    fact = author.relational(NAMESPACE, variant, content, **at(number))
    for each in by:
        fact = attested(fact, each)
    return fact


def proposed(number, of, by="u", reason="Routine"):
    return _fact(number, "AmpTransitionProposed", by, {"identity": of, "reason": reason})


def certified(number, of, by="uv"):
    return _fact(number, "AmpTransitionCertified", by, {"identity": of})


def finalized(number, of, by="u", consensus_id=0x70):
    return _fact(number, "AmpTransitionFinalized", by, {"identity": of, "consensus_id": b32(consensus_id)})


def agreed(number, of, by="uv", consensus_id=0x70):
    return of_context(
        "Consensus", number, by, consensus_id=b32(consensus_id), operation_hash=transition_id(of), threshold_met=True,
        participant_count=2,
    )  # fmt: skip


def abort(number, of, by="uv", scope="A2AndA3"):
    content = {"parent": _parent_of(of), "transition_id": transition_id(of), "scope": scope}
    return _fact(number, "AmpTransitionAbort", by, content)


def conflict(number, first, second, by="uv"):
    content = {"parent": _parent_of(first), "first": transition_id(first), "second": transition_id(second)}
    return _fact(number, "AmpTransitionConflict", by, content)


def alarm(number, of, by="u"):
    return _fact(number, "AmpTransitionAlarm", by, {"parent": _parent_of(of), "suspect": transition_id(of)})


def supersession(number, of, other, by="uv", scope="A2AndA3"):
    content = {
        "parent": _parent_of(of),
        "superseded": transition_id(of),
        "superseding": transition_id(other),
        "scope": scope,
    }
    return _fact(number, "AmpTransitionSupersession", by, content)


def _parent_of(of):
    return {name: of[name] for name in parent()}

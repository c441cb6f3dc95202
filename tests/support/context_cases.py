"""Contexts of the vectors and of attacks: their facts, the chains of their members, and their states."""

import json
from functools import cache
from pathlib import Path

from strandline.dialects.aura import author
from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.reduce.contexts import authority_chain, bump_hash, reduce_context
from strandline.dialects.aura.verify import EMPTY
from support.aura_cases import (
    K3,
    V_ID,
    U,
    after,
    at,
    attested,
    b32,
    facts,
    other_authority,
    second_context,
)

LOST = ("G", "A0", "A1", "X", "Rx", "Kx")
"""The operations of u on its other branch."""


@cache
def context_vectors():
    return json.loads((Path(__file__).parents[1] / "vectors/aura/contexts.json").read_text("utf-8"))


@cache
def chains(*, is_lost=False):
    """The chains of u and v; with `is_lost` the state at which u attests is not on its chain."""
    operations = [facts()[name] for name in LOST] if is_lost else facts().values()
    u = authority_chain(reduce_authority(U, operations))
    return {
        U.id: u,
        V_ID: authority_chain(reduce_authority(other_authority().namespace, [other_authority()])),
    }


def reattested(fact, by):
    """A copy of the body with these attestations in place of its own."""
    ((variant, content),) = fact.value["content"]["Relational"].items()
    copy = author.relational(
        fact.namespace, variant, content, order=fact.order, timestamp=fact.value["timestamp"]
    )
    for each in by:
        copy = attested(copy, each)
    return copy


@cache
def named_facts():
    """The facts of the second context by name, and the copy of `b3`."""
    return {**second_context(), "b3'": reattested(second_context()["b3"], "u")}


def up_to(name):
    """The facts of the second context up to one of them."""
    named = list(named_facts())
    return [named_facts()[each] for each in named[: named.index(name) + 1]]


NAMESPACE = second_context()["g"].namespace


def reduced(given, **more):
    """The state of facts of the second context."""
    return reduce_context(NAMESPACE, given, chains(**more))


def of_context(variant, number, by="u", *, namespace=NAMESPACE, **content):
    """A fact of the second context, attested."""
    name = "context_id" if variant == "Generic" else "context"
    if variant not in ("GuardianBinding", "RecoveryGrant", "Consensus", "ContextGenesis"):
        content[name] = namespace.id
    fact = author.relational(namespace, variant, content, **at(number))
    for each in by:
        fact = attested(fact, each)
    return fact


@cache
def pruning_context():
    """The 27 facts of the context whose charges and checkpoints can be pruned, by name."""
    made = author.context_genesis([U.id, V_ID], b"\x03" * 16)
    space, channel, found = made.namespace, b32(0xDD), {"g": made}

    def add(name, number, variant, by, **content):
        found[name] = of_context(variant, number, by, namespace=space, **content)

    for count in range(11):
        generation = 4 * count
        add(
            f"k{count}", 0x02 + count, "AmpChannelCheckpoint", "u", channel=channel, chan_epoch=0,
            base_gen=generation, window=4, ck_commitment=b32(generation), skip_window_override=4,
        )  # fmt: skip
    for name, number, parent in (("p", 0x0D, 0), ("p2", 0x0E, 1)):
        add(
            name, number, "AmpProposedChannelEpochBump", "u", channel=channel, parent_epoch=parent,
            new_epoch=parent + 1, bump_id=b32(0xB0 + parent), reason="Routine",
        )  # fmt: skip
    add(
        "c", 0x0F, "Consensus", "uv", consensus_id=b32(6), threshold_met=True, participant_count=2,
        operation_hash=bump_hash(space.id, channel, 0, b32(0xB0)),
    )  # fmt: skip
    add(
        "m", 0x10, "AmpCommittedChannelEpochBump", "v", channel=channel, parent_epoch=0, new_epoch=1,
        chosen_bump_id=b32(0xB0), consensus_id=b32(6),
    )  # fmt: skip
    prev = bytes(32)
    for nonce in range(10):
        add(
            f"f{nonce}", 0x11 + nonce, "FlowCharge", "u", src=U.id, dst=V_ID, epoch=1, cost=nonce + 1,
            nonce=nonce, prev=prev,
        )  # fmt: skip
        prev = found[f"f{nonce}"].body_id
    found["rr"] = author.receipt(
        space, envelope_id=found["f2"].body_id, authority=V_ID, received={"OrderClock": bytes(32)}, signer=K3,
        commitment=after(EMPTY, other_authority()).commitment, **at(0x1B),
    )  # fmt: skip
    return found

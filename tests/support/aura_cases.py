"""The facts of the vectors, made again from their keys: an authority with a fork, another one, two contexts."""

import json
from functools import cache
from pathlib import Path

from strandline.core.ed25519 import Ed25519Key
from strandline.core.hashing import tagged
from strandline.dialects.aura import author
from strandline.dialects.aura.types import (
    ALL,
    ANY,
    OP_VERSION,
    AddLeaf,
    ChangePolicy,
    KeyRecord,
    LeafNode,
    Namespace,
    RekeyLeaf,
    RemoveLeaf,
    RotateEpoch,
    TreeOp,
)
from strandline.dialects.aura.verify import EMPTY
from strandline.dialects.aura.verify import state_after as after

CASES = Path(__file__).parents[1] / "vectors" / "aura" / "cases.json"
K1, K2, K3 = (Ed25519Key(bytes([number]) * 32) for number in (1, 2, 3))
V_ID = bytes.fromhex("061aaea1e5830684dd972e75f5a98f4a")


@cache
def vectors():
    return json.loads(CASES.read_text("utf-8"))


def b32(number):
    return bytes([number]) * 32


def at(number):
    """Order and time of the fact with this number."""
    return {"order": b32(number), "timestamp": {"OrderClock": b32(number)}}


def device(number, key, role="Device"):
    return LeafNode(number, bytes([0xD0 + number]) * 16, role, b32(key), b"")


def second_key(most=2):
    return KeyRecord(K2.public, 2, most)


# name: number, parent, signer, operation
CHAIN = {
    "A0": (2, "G", K1, AddLeaf(device(0, 0x11), 0)),
    "A1": (3, "A0", K1, AddLeaf(device(1, 0x22), 0)),
    "P": (4, "A1", K1, ChangePolicy(0, ALL)),
    "X": (5, "A1", K1, AddLeaf(device(2, 0x44, "Guardian"), 0)),
    "Rp": (6, "P", K1, RotateEpoch((0,), second_key())),
    "Rx": (7, "X", K1, RotateEpoch((0,), second_key())),
    "Kp": (8, "Rp", K2, RekeyLeaf(0, b32(0x33))),
    "Kx": (9, "Rx", K2, RekeyLeaf(0, b32(0x33))),
}


@cache
def genesis():
    return author.genesis(
        K1, min_signers=2, max_signers=3, policy=ANY, salt=bytes(16), signer_count=2, **at(1)
    )


@cache
def authority():
    """Facts and states of the authority of the vectors, by name."""
    facts = {"G": genesis()}
    states = {"G": after(EMPTY, genesis())}
    namespace = facts["G"].namespace
    for name, (number, parent, signer, operation) in CHAIN.items():
        facts[name] = author.append(
            namespace, states[parent], operation, signer=signer, signer_count=2, **at(number)
        )
        states[name] = after(states[parent], facts[name])
    return facts, states


def facts():
    return authority()[0]


def states():
    return authority()[1]


U = Namespace("authority", bytes.fromhex("d21eb9245a21bff8b6f5465be2308d99"))


def signed(parent, operation, number, signer=K1, count=2, epoch=None, commitment=None, version=OP_VERSION):
    """An operation on a state of the authority, whatever it is worth."""
    state = states().get(parent, EMPTY)
    op = TreeOp(
        operation,
        state.commitment if commitment is None else commitment,
        state.epoch if epoch is None else epoch,
        version,
    )
    return author.signed_op(U, op, signer=signer, signer_count=count, **at(number))


@cache
def refused():
    """The bad operations of the vectors, by the number of their order."""
    return {
        "A0'": signed("G", CHAIN["A0"][3], 0x20, count=3),
        "21": signed("Rp", RemoveLeaf(1, 0), 0x21),
        "22": signed("A1", AddLeaf(LeafNode(7, b"\xd7" * 16, "Device", b32(0x55), b""), 0), 0x22),
        "23": signed("G", AddLeaf(device(0, 0x66), 0), 0x23, count=1),
        "24": signed("", RotateEpoch((), None), 0x24, epoch=0, commitment=b32(0x99)),
        "25": signed("Rp", RemoveLeaf(1, 0), 0x25, K2, epoch=0),
        "26": signed("P", ChangePolicy(0, ANY), 0x26),
    }


@cache
def other_authority():
    """The genesis of the second authority, a single key."""
    return author.genesis(
        K3, min_signers=1, max_signers=1, policy=ANY, salt=b"\x01" * 16, signer_count=1, **at(0x40)
    )


def u64(number):
    return number.to_bytes(8, "little")


def bump_hash(context, channel, parent, bump_id):
    """What a consensus over a committed bump agrees on."""
    return tagged(
        "strandline/aura/op/amp-bump/1", context + channel + u64(parent) + u64(parent + 1) + bump_id
    )


CHANNEL = b32(0xCC)


@cache
def first_context():
    """One fact of each variant, by variant; nobody attests them."""
    u, g = U.id, b"\xbb" * 16
    made = author.context_genesis([u, g], bytes(16))
    context = made.namespace
    amp = {"context": context.id, "channel": CHANNEL}
    flow = {"context": context.id, "src": u, "dst": g, "epoch": 0}
    members = {
        "GuardianBinding": {"account_id": u, "guardian_id": g, "binding_hash": b32(1)},
        "RecoveryGrant": {"account_id": u, "guardian_id": g, "grant_hash": b32(2)},
        "Consensus": {
            "consensus_id": b32(3), "operation_hash": b32(4), "threshold_met": True, "participant_count": 2
        },
        "AmpChannelCheckpoint": {
            **amp, "chan_epoch": 0, "base_gen": 42, "window": 32, "ck_commitment": b32(7),
            "skip_window_override": 32,
        },
        "AmpProposedChannelEpochBump": {
            **amp, "parent_epoch": 0, "new_epoch": 1, "bump_id": b32(5), "reason": "Routine"
        },
        "AmpCommittedChannelEpochBump": {
            **amp, "parent_epoch": 0, "new_epoch": 1, "chosen_bump_id": b32(5), "consensus_id": b32(3)
        },
        "AmpChannelPolicy": {**amp, "skip_window": None},
        "FlowLimit": {**flow, "limit": 2**64 - 1},
        "FlowCharge": {**flow, "cost": 7, "nonce": 0, "prev": bytes(32)},
        "Capability": {
            "context": context.id, "subject": g, "actions": ["read", "send"], "limits": {"send": 10},
            "epoch_min": None, "epoch_max": 9,
        },
        "Generic": {"context_id": context.id, "binding_type": "note", "binding_data": b"hi"},
    }  # fmt: skip
    when = {"order": b32(0x0A), "timestamp": {"PhysicalClock": {"ts_ms": 1000, "uncertainty": None}}}
    return {"ContextGenesis": made} | {
        variant: author.relational(context, variant, content, **when) for variant, content in members.items()
    }


@cache
def second_context():
    """The facts of the second context, by name."""
    u, v = U.id, V_ID
    made = author.context_genesis([u, v], b"\x02" * 16)
    context = made.namespace
    amp = {"context": context.id, "channel": CHANNEL}

    def checkpoint(epoch, generation, commitment):
        return "AmpChannelCheckpoint", {
            **amp, "chan_epoch": epoch, "base_gen": generation, "window": 1024,
            "ck_commitment": b32(commitment), "skip_window_override": None,
        }  # fmt: skip

    def proposed(epoch, bump, reason):
        return "AmpProposedChannelEpochBump", {
            **amp, "parent_epoch": epoch, "new_epoch": epoch + 1, "bump_id": b32(bump), "reason": reason
        }  # fmt: skip

    def committed(epoch, bump, consensus):
        return "AmpCommittedChannelEpochBump", {
            **amp, "parent_epoch": epoch, "new_epoch": epoch + 1, "chosen_bump_id": b32(bump),
            "consensus_id": b32(consensus),
        }  # fmt: skip

    def consensus(number, epoch, bump):
        return "Consensus", {
            "consensus_id": b32(number),
            "operation_hash": bump_hash(context.id, CHANNEL, epoch, b32(bump)),
            "threshold_met": True,
            "participant_count": 2,
        }

    def binding(account, guardian, number):
        return "GuardianBinding", {
            "account_id": account, "guardian_id": guardian, "binding_hash": b32(number)
        }  # fmt: skip

    def grant(account, guardian, number):
        return "RecoveryGrant", {"account_id": account, "guardian_id": guardian, "grant_hash": b32(number)}

    def charge(cost, nonce, prev):
        flow = {"context": context.id, "src": u, "dst": v, "epoch": 1}
        return "FlowCharge", {**flow, "cost": cost, "nonce": nonce, "prev": prev}

    def capability(subject, actions, limits, least, most):
        return "Capability", {
            "context": context.id, "subject": subject, "actions": actions, "limits": limits,
            "epoch_min": least, "epoch_max": most,
        }  # fmt: skip

    def generic(data):
        return "Generic", {"context_id": context.id, "binding_type": "note", "binding_data": data}

    found = {"g": made}

    def add(name, number, attestors, variant, content):
        fact = author.relational(context, variant, content, **at(number))
        for each in attestors:
            fact = attested(fact, each)
        found[name] = fact

    for row in (
        ("b1", 0x52, "uv", *binding(u, v, 1)),
        ("b2", 0x53, "uv", *binding(u, v, 2)),
        ("b3", 0x54, "v", *binding(v, u, 3)),
        ("r1", 0x55, "v", *grant(u, v, 4)),
        ("r2", 0x56, "u", *grant(v, u, 5)),
        ("c1", 0x57, "uv", *consensus(6, 0, 0xB0)),
        ("c2", 0x58, "u", *consensus(7, 1, 0xB2)),
        ("k1", 0x59, "u", *checkpoint(0, 0, 0x10)),
        ("k2", 0x5A, "v", *checkpoint(0, 600, 0x11)),
        ("p1", 0x5B, "u", *proposed(0, 0xB0, "Routine")),
        ("m1", 0x5C, "v", *committed(0, 0xB0, 6)),
        ("m2", 0x5D, "v", *committed(1, 0xB2, 7)),
        ("k3", 0x5E, "u", *checkpoint(1, 1024, 0x12)),
        ("p2", 0x5F, "u", *proposed(1, 0xA0, "Routine")),
        ("p3", 0x60, "v", *proposed(1, 0xB2, "SuspiciousActivity")),
        ("w", 0x61, "v", "AmpChannelPolicy", {**amp, "skip_window": 512}),
        ("l", 0x62, "v", "FlowLimit", {"context": context.id, "src": u, "dst": v, "epoch": 1, "limit": 15}),
        ("f0", 0x63, "u", *charge(7, 0, bytes(32))),
    ):
        add(*row)
    for row in (
        ("f1", 0x64, "u", *charge(5, 1, found["f0"].body_id)),
        ("f1'", 0x65, "u", *charge(5, 1, found["f0"].body_id)),
        ("q1", 0x66, "v", *capability(v, ["read", "send", "sign"], {"send": 10}, None, 9)),
        ("q2", 0x67, "uv", *capability(v, ["read", "send"], {"flow": 100, "send": 20}, 2, None)),
        ("q3", 0x68, "u", *capability(v, [], {}, None, None)),
        ("n1", 0x69, "u", *generic(b"hi")),
        ("n2", 0x6A, "v", *generic(b"hi")),
        ("n3", 0x6B, ["u*"], *generic(b"lost")),
    ):
        add(*row)
    return found


def attested(fact, by):
    """The fact, attested: `u` at its tip, `u*` at the state that lost, `v` at its genesis."""
    match by:
        case "u":
            return author.attest(fact, U.id, states()["Kp"].commitment, K2)
        case "u*":
            return author.attest(fact, U.id, states()["X"].commitment, K1)
        case "v":
            return author.attest(fact, V_ID, after(EMPTY, other_authority()).commitment, K3)
    raise ValueError(by)

"""Facts with a form that break rules or signatures, by name, each with what a verifier must say of it."""

from dataclasses import replace

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import encode
from strandline.dialects.aura.types import (
    ALL,
    ANY,
    AddLeaf,
    ChangePolicy,
    Genesis,
    KeyRecord,
    LeafNode,
    Namespace,
    Policy,
    RekeyLeaf,
    RemoveLeaf,
    RotateEpoch,
    TreeOp,
)
from support.aura_cases import (
    CHANNEL,
    K1,
    K2,
    K3,
    V_ID,
    U,
    at,
    attested,
    b32,
    device,
    facts,
    second_context,
    second_key,
    signed,
    states,
    vectors,
)

MIXED = bytes.fromhex(vectors()["ed25519"]["mixed_key"])
THRESHOLD = Policy("Threshold", 2, 3)


def with_value(fact, path, new):
    """The fact with another canonical value at the path; signatures stay as they are."""

    def changed(value, way):
        name, *rest = way
        return {**value, name: changed(value[name], rest) if rest else new}

    return encode(changed(fact.value, path.split(".")))


def with_op(parent="A1", **changes):
    """A signed operation after a state, with changes to its members."""
    operation = changes.pop("operation", AddLeaf(device(2, 0x55), 0))
    return signed(parent, operation, 0x60, **changes)


def genesis_like(**changes):
    """A genesis of a new authority with changes to its members."""
    members = {"suite": 1, "key": KeyRecord(K1.public, 2, 3), "policy": ANY, "salt": b"\x07" * 16} | changes
    parent = {"parent_commitment": bytes(32), "parent_epoch": 0} | {
        name: members.pop(name) for name in ("parent_commitment", "parent_epoch") if name in members
    }
    return author.signed_op(
        U, TreeOp(Genesis(**members), version=2, **parent), signer=K1, signer_count=2, **at(0x61)
    )


CONTEXT = second_context()["g"].namespace
FLOW = {"context": CONTEXT.id, "src": U.id, "dst": V_ID, "epoch": 1}
BUMP = {"context": CONTEXT.id, "channel": CHANNEL, "parent_epoch": 3}
BINDING = {"account_id": U.id, "guardian_id": V_ID}


def relational(variant, content, by=("u",), namespace=CONTEXT, number=0x70):
    fact = author.relational(namespace, variant, content, **at(number))
    for each in by:
        fact = attested(fact, each)
    return fact


def proposed(new_epoch, parent_epoch=3):
    epochs = {"parent_epoch": parent_epoch, "new_epoch": new_epoch}
    return relational(
        "AmpProposedChannelEpochBump", {**BUMP, **epochs, "bump_id": b32(1), "reason": "Routine"}
    )


def committed(new_epoch):
    content = {**BUMP, "new_epoch": new_epoch, "chosen_bump_id": b32(1), "consensus_id": b32(2)}
    return relational("AmpCommittedChannelEpochBump", content)


def charge(**changes):
    return relational("FlowCharge", {**FLOW, "cost": 1, "nonce": 0, "prev": bytes(32)} | changes)


def generic(binding_type, by=("u",), namespace=CONTEXT):
    content = {"context_id": namespace.id, "binding_type": binding_type, "binding_data": b""}
    return relational("Generic", content, by, namespace)


def snapshot(namespace, count=1, by=("u",)):
    supersedes = [replace(facts()["G"], order=number.to_bytes(32, "big")) for number in range(count)]
    fact = author.snapshot(namespace, sequence=1, state_hash=bytes(32), supersedes=supersedes, **at(0x71))
    for each in by:
        fact = attested(fact, each)
    return fact


def receipt(namespace, authority=U.id, commitment=None, signer=K2):
    return author.receipt(
        namespace,
        envelope_id=b32(9),
        authority=authority,
        commitment=states()["Kp"].commitment if commitment is None else commitment,
        received={"OrderClock": b32(8)},
        signer=signer,
        **at(0x72),
    )


def moved_genesis(**members):
    """The genesis of the second context with other members of the fact."""
    return encode({**second_context()["g"].value, **members})


# What a fact breaks by itself.
RULES = {
    "an operation in a context": (
        lambda: with_value(facts()["A0"], "namespace", {"Context": U.id}), "CONTENT_NAMESPACE"
    ),
    "a relational fact in an authority": (
        lambda: relational("Consensus", second_context()["c1"].content, namespace=U), "CONTENT_NAMESPACE"
    ),
    "a context genesis in an authority": (
        lambda: with_value(second_context()["g"], "namespace", {"Authority": U.id}), "CONTENT_NAMESPACE"
    ),
    "an attested operation": (
        lambda: with_value(facts()["A0"], "attest", attested(facts()["A0"], "u").value["attest"]),
        "ATTEST_NOT_ALLOWED",
    ),
    "an operation attested by a stranger": (
        lambda: attested(facts()["A0"], "v"), "ATTESTOR_NOT_SELF ATTEST_NOT_ALLOWED"
    ),
    "an attested receipt": (lambda: attested(receipt(CONTEXT), "u"), "ATTEST_NOT_ALLOWED"),
    "version 1": (lambda: with_op(version=1), "OP_VERSION"),
    "version 3": (lambda: with_op(version=3), "OP_VERSION"),
    "suite 0": (lambda: genesis_like(suite=0), "SUITE_UNSUPPORTED"),
    "suite 2": (lambda: genesis_like(suite=2), "SUITE_UNSUPPORTED"),
    "no signers": (lambda: genesis_like(key=KeyRecord(K1.public, 0, 3)), "KEY_RECORD_INVALID"),
    "fewer holders than signers": (
        lambda: genesis_like(key=KeyRecord(K1.public, 3, 2)), "KEY_RECORD_INVALID"
    ),
    "the next key with no signers": (
        lambda: with_op(operation=RotateEpoch((), KeyRecord(K2.public, 0, 0))), "KEY_RECORD_INVALID"
    ),
    "a group key of mixed order": (
        lambda: genesis_like(key=KeyRecord(MIXED, 1, 1)), "GROUP_KEY_INVALID"
    ),
    "the next group key of small order": (
        lambda: with_op(operation=RotateEpoch((), KeyRecord(bytes([1]) + bytes(31), 1, 1))),
        "GROUP_KEY_INVALID",
    ),
    "a group key that is no point, and no signers": (
        lambda: genesis_like(key=KeyRecord(b32(2), 2, 1)), "GROUP_KEY_INVALID KEY_RECORD_INVALID"
    ),
    "all as a threshold": (
        lambda: with_op(operation=ChangePolicy(0, Policy("Threshold", 3, 3))), "POLICY_NOT_NORMAL"
    ),
    "none of two": (
        lambda: with_op(operation=ChangePolicy(0, Policy("Threshold", 0, 2))), "POLICY_NOT_NORMAL"
    ),
    "a genesis with three of two": (
        lambda: genesis_like(policy=Policy("Threshold", 3, 2)), "POLICY_NOT_NORMAL"
    ),
    "a genesis with a parent": (lambda: genesis_like(parent_commitment=b32(1)), "GENESIS_PARENT"),
    "a genesis in epoch 1": (lambda: genesis_like(parent_epoch=1), "GENESIS_PARENT"),
    "an operation without a parent": (lambda: with_op(commitment=bytes(32)), "PARENT_ZERO"),
    "the same in epoch 1": (lambda: with_op(commitment=bytes(32), epoch=1), "PARENT_ZERO"),
    "everything wrong with a genesis": (
        lambda: genesis_like(
            suite=9, key=KeyRecord(MIXED, 2, 1), policy=Policy("Threshold", 2, 2), parent_epoch=1
        ),
        "GENESIS_PARENT GROUP_KEY_INVALID KEY_RECORD_INVALID POLICY_NOT_NORMAL SUITE_UNSUPPORTED",
    ),
    "a fact of another context": (
        lambda: relational("FlowLimit", {**FLOW, "context": b"\x01" * 16, "limit": 1}), "CONTEXT_MISMATCH"
    ),
    "a generic fact of another context": (
        lambda: with_value(generic("x"), "namespace", {"Context": b"\x01" * 16}), "CONTEXT_MISMATCH"
    ),
    "a bump of two epochs": (lambda: proposed(5), "EPOCH_NOT_SUCCESSOR"),
    "a bump to the same epoch": (lambda: committed(3), "EPOCH_NOT_SUCCESSOR"),
    "a bump of the last epoch": (lambda: proposed(0, 2**64 - 1), "EPOCH_NOT_SUCCESSOR"),
    "a guardian of itself": (
        lambda: relational("GuardianBinding", {"account_id": U.id, "guardian_id": U.id, "binding_hash": b32(1)}),
        "PARTY_SELF",
    ),
    "a grant to itself": (
        lambda: relational("RecoveryGrant", {"account_id": U.id, "guardian_id": U.id, "grant_hash": b32(1)}),
        "PARTY_SELF",
    ),
    "a limit towards itself": (
        lambda: relational("FlowLimit", {**FLOW, "dst": U.id, "limit": 1}), "PARTY_SELF"
    ),
    "a charge towards itself": (lambda: charge(dst=U.id), "PARTY_SELF"),
    "a first charge with a predecessor": (lambda: charge(prev=b32(1)), "CHARGE_CHAIN"),
    "a second charge without one": (lambda: charge(nonce=1), "CHARGE_CHAIN"),
    "a consensus as a binding": (lambda: generic("consensus"), "BINDING_TYPE_RESERVED"),
    "a reserved binding": (lambda: generic("strandline/x"), "BINDING_TYPE_RESERVED"),
    "a fact nobody attests": (lambda: generic("x", by=()), "ATTEST_MISSING"),
    "a snapshot nobody attests": (lambda: snapshot(CONTEXT, by=()), "ATTEST_MISSING"),
    "a context genesis of another order": (lambda: moved_genesis(order=b32(0x51)), "CONTEXT_GENESIS_FORM"),
    "a context genesis of another time": (
        lambda: moved_genesis(timestamp={"OrderClock": b32(0x51)}), "CONTEXT_GENESIS_FORM"
    ),
    "a context genesis with another kind of time": (
        lambda: moved_genesis(timestamp={"PhysicalClock": {"ts_ms": 0, "uncertainty": None}}),
        "CONTEXT_GENESIS_FORM",
    ),
    "an attested context genesis": (lambda: attested(second_context()["g"], "u"), "CONTEXT_GENESIS_FORM"),
    "a stranger's snapshot of an authority": (lambda: snapshot(U, by=("u", "v")), "ATTESTOR_NOT_SELF"),
    "a stranger's receipt of an authority": (lambda: receipt(U, V_ID), "ATTESTOR_NOT_SELF"),
}  # fmt: skip
GOOD = {
    "two of three": lambda: with_op(operation=ChangePolicy(0, THRESHOLD)),
    "a bump of one epoch": lambda: proposed(4),
    "a bump to the last epoch": lambda: proposed(2**64 - 1, 2**64 - 2),
    "a later charge": lambda: charge(nonce=1, prev=b32(1)),
    "a binding of a near type": lambda: generic("consensus/x"),
    "a receipt in a context": lambda: receipt(CONTEXT),
}
# Operations that have all forms, after accepted ones: what parent state and key say of them.
FOLLOWING = {
    "signed by another key": (lambda: with_op(signer=K2), "SIGNATURE_INVALID"),
    "by the old key after a rotation": (
        lambda: signed("Rp", AddLeaf(device(2, 0x55), 0), 0x60), "SIGNATURE_INVALID"
    ),
    "by the next key before the rotation": (
        lambda: signed("P", RotateEpoch((), second_key()), 0x60, K2), "SIGNATURE_INVALID"
    ),
    "one bit of the signature": (
        lambda: with_value(
            facts()["A0"], "content.AttestedOp.agg_sig", flipped(facts()["A0"].attested.agg_sig, 0)
        ),
        "SIGNATURE_INVALID",
    ),
    "S + L": (
        lambda: with_value(facts()["A0"], "content.AttestedOp.agg_sig", plus_order(facts()["A0"])),
        "SIGNATURE_INVALID",
    ),
    "under another order": (lambda: with_value(facts()["A0"], "order", b32(0x62)), "SIGNATURE_INVALID"),
    "at another time": (
        lambda: with_value(facts()["A0"], "timestamp", {"OrderClock": b32(0x62)}), "SIGNATURE_INVALID"
    ),
    "with another count": (
        lambda: with_value(facts()["A0"], "content.AttestedOp.signer_count", 3), "SIGNATURE_INVALID"
    ),
    "with a count above the holders": (
        lambda: with_value(facts()["A0"], "content.AttestedOp.signer_count", 4),
        "SIGNATURE_INVALID SIGNERS_EXCESS",
    ),
    "signed with a count above the holders": (lambda: with_op(count=4), "SIGNERS_EXCESS"),
    "signed by too few": (lambda: with_op(count=1), "SIGNERS_INSUFFICIENT"),
    "of another epoch": (lambda: with_op(epoch=1), "EPOCH_MISMATCH"),
    "a leaf that is not the next": (
        lambda: with_op(operation=AddLeaf(device(3, 0x55), 0)), "LEAF_ID_NOT_NEXT"
    ),
    "a leaf that was there": (lambda: with_op(operation=AddLeaf(device(0, 0x55), 0)), "LEAF_ID_NOT_NEXT"),
    "a leaf under no node": (lambda: with_op(operation=AddLeaf(device(2, 0x55), 1)), "NODE_UNKNOWN"),
    "a leaf with a key of another": (
        lambda: with_op(operation=AddLeaf(device(2, 0x22), 0)), "LEAF_KEY_DUPLICATE"
    ),
    "a removed leaf that is not there": (lambda: with_op(operation=RemoveLeaf(2, 0)), "LEAF_UNKNOWN"),
    "a new key of no leaf": (lambda: with_op(operation=RekeyLeaf(2, b32(0x77))), "LEAF_UNKNOWN"),
    "a new key that another leaf has": (
        lambda: with_op(operation=RekeyLeaf(0, b32(0x22))), "LEAF_KEY_DUPLICATE"
    ),
    "a new key that is the old one": (
        lambda: with_op(operation=RekeyLeaf(0, b32(0x11))), "LEAF_KEY_DUPLICATE"
    ),
    "a policy of a branch": (lambda: with_op(operation=ChangePolicy(1, ALL)), "NODE_NOT_ROOT"),
    "a weaker policy": (lambda: with_op("P", operation=ChangePolicy(0, THRESHOLD)), "POLICY_NOT_STRICTER"),
    "a rotation of no node": (lambda: with_op(operation=RotateEpoch((0, 1), None)), "NODE_UNKNOWN"),
    "everything wrong": (
        lambda: with_op(operation=AddLeaf(device(9, 0x22), 7), signer=K3, count=1, epoch=5),
        (
            "EPOCH_MISMATCH LEAF_ID_NOT_NEXT LEAF_KEY_DUPLICATE NODE_UNKNOWN SIGNATURE_INVALID "
            "SIGNERS_INSUFFICIENT"
        ),
    ),
    "the same policy again": (lambda: with_op("P", operation=ChangePolicy(0, ALL)), ""),
    "a leaf that was removed, with its key": (lambda: with_op(operation=RemoveLeaf(1, 255)), ""),
}  # fmt: skip


def flipped(raw, bit):
    changed = bytearray(raw)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def plus_order(fact):
    signature = fact.attested.agg_sig
    order = 2**252 + 27742317777372353535851937790883648493
    return signature[:32] + (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")


def by_stranger(fact):
    """The fact, attested by a stranger's own good key."""
    return author.attest(fact, b"\xee" * 16, b32(0xEE), Ed25519Key(b"\x09" * 32))


def leaf(number, key):
    return LeafNode(number, bytes(16), "Device", b32(key), b"")


OTHER = Namespace("authority", b"\x77" * 16)

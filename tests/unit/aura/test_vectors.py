"""The published vectors: ids, messages, signatures and commitments are what the design says."""

from functools import partial

import pytest

from strandline.core.ed25519 import Ed25519Key, has_prime_order, verify_by_partner, verify_ed25519
from strandline.core.hashing import set_hash
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import attest_message, op_message, parse_fact_cbor, read_documents
from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.types import ALL, ANY, LeafNode, Policy, RemoveLeaf
from strandline.dialects.aura.verify import admit
from strandline.dialects.aura.verify.policies import meet, threshold
from strandline.dialects.aura.verify.tree import (
    Tree,
    branch_hash,
    full_tree,
    leaf_hash,
    policy_hash,
    sha256,
    updated_tree,
)
from support.aura_attacks import flipped, plus_order, with_value
from support.aura_cases import (
    CASES,
    K1,
    K2,
    V_ID,
    U,
    after,
    at,
    b32,
    bump_hash,
    facts,
    first_context,
    genesis,
    other_authority,
    refused,
    second_context,
    signed,
    states,
    vectors,
)
from support.blake3_chunk import blake3

VECTORS = vectors()
PRIMITIVES = VECTORS["primitives"]
TWO_OF_THREE = Policy("Threshold", 2, 3)
HASHES = {"SHA-256": sha256, "BLAKE3": blake3}


def test_keys_and_hashes_of_single_values():
    assert (K1.public.hex(), K2.public.hex()) == (PRIMITIVES["K1"], PRIMITIVES["K2"])
    for name, policy in (("Any", ANY), ("2 of 3", TWO_OF_THREE), ("All", ALL)):
        assert policy_hash(policy).hex() == PRIMITIVES[f"policy_hash({name})"]
    assert leaf_hash(5, 42, bytes([1, 2, 3, 4])).hex() == PRIMITIVES["leaf(5, 42, 01020304)"]
    branch = branch_hash(1, 42, TWO_OF_THREE, bytes(32), b32(1))
    assert branch.hex() == PRIMITIVES["branch(1,42,2 of 3,00*32,01*32)"]
    assert Tree(0, 1, ()).commitment().hex() == PRIMITIVES["tree, empty, epoch 0, threshold 1"]


@pytest.mark.parametrize("name", HASHES)
def test_the_roots_that_the_public_implementation_pins(name):
    h = HASHES[name]

    def leaves(*keys):
        return [LeafNode(number, bytes(16), "Device", b32(key), b"") for number, key in enumerate(keys)]

    first = full_tree(leaves(0x11, 0x22), 0, 2, h)
    second = updated_tree(first, leaves(0x11, 0x22), 1, 2, range(0), h)
    third = updated_tree(second, leaves(0x33, 0x22), 1, 2, range(1), h)
    for step, tree in (("threshold 2", first), ("epoch 1", second), ("leaf 0 rekeyed", third)):
        assert tree.commitment(h).hex() == PRIMITIVES[f"root({step}), {name}"]


def test_policies_meet_and_ask_for_a_share():
    policy = partial(Policy, "Threshold")
    assert meet(policy(1, 2), policy(2, 4)) == meet(policy(2, 4), policy(1, 2)) == policy(1, 2)
    assert meet(policy(2, 3), policy(3, 5)) == meet(policy(3, 5), policy(2, 3)) == policy(2, 3)
    assert [threshold(TWO_OF_THREE, leaves) for leaves in range(8)] == [1, 1, 2, 2, 3, 4, 4, 5]


@pytest.mark.parametrize("vector", VECTORS["chain"], ids=lambda vector: vector["name"])
def test_an_operation_of_the_chain_has_its_ids_and_makes_its_state(vector):
    name = vector["name"]
    fact = facts()[name] if name in facts() else refused()[name]
    assert fact.namespace == U
    assert fact.fact_id.hex().startswith(vector["fact_id"])
    if vector.get("op_id") is not None:
        assert fact.op_id.hex() == vector["op_id"]
        assert states()[name].commitment.hex().startswith(vector["commitment"])


def test_an_operation_signed_again_is_the_same_operation():
    assert refused()["A0'"].op_id == facts()["A0"].op_id
    assert refused()["A0'"].fact_id != facts()["A0"].fact_id


def test_the_trees_of_the_chain_are_the_golden_roots():
    golden = ("root(threshold 2), SHA-256", "root(epoch 1), SHA-256", "root(leaf 0 rekeyed), SHA-256")
    assert [states()[name].tree_commitment.hex() for name in ("P", "Rp", "Kp")] == [
        PRIMITIVES[name] for name in golden
    ]
    assert states()["G"].tree_commitment.hex() == PRIMITIVES["tree, empty, epoch 0, threshold 1"]


def test_a_fact_in_full():
    expected = VECTORS["a0"]
    fact = parse_fact_cbor(bytes.fromhex(expected["cbor"]))
    assert fact.cbor == facts()["A0"].cbor
    assert (len(fact.cbor), fact.body_id.hex()) == (456, expected["body_id"])
    assert op_message(fact.body_id, K1.public).hex() == expected["message"]
    assert fact.attested.agg_sig.hex() == expected["agg_sig"]


def test_removing_a_leaf_returns_to_its_tree_and_to_no_earlier_state():
    back = after(states()["X"], signed("X", RemoveLeaf(2, 0), 0x50))
    assert back.tree == states()["A1"].tree
    assert back.tree_commitment == states()["A1"].tree_commitment
    assert back.commitment.hex() == VECTORS["state"]["removed"]


def test_the_second_authority():
    expected, fact = VECTORS["v"], other_authority()
    assert (str(fact.namespace.text), fact.namespace.id) == (f"authority:{expected['authority']}", V_ID)
    assert (fact.op_id.hex(), fact.fact_id.hex()) == (expected["op_id"], expected["fact_id"])
    assert after(states()["G"].__class__(), fact).commitment.hex() == expected["commitment"]
    assert set_hash([sha256(b"\x00"), sha256(b"\x01")]).hex() == expected["set_digest"]


@pytest.mark.parametrize("variant", VECTORS["bodies"])
def test_a_relational_fact_has_its_body_id(variant):
    assert first_context()[variant].body_id.hex() == VECTORS["bodies"][variant]


def test_contexts_derive_their_ids():
    first, second = first_context()["ContextGenesis"], second_context()["g"]
    assert first.order.hex() == VECTORS["context_digest"]
    assert first.namespace.text == "context:b7752afa-acef-4a45-523e-0183411fd396"
    assert second.order.hex() == VECTORS["g_digest"]
    assert second.namespace.text == "context:ac23efb3-ce20-4fd3-1334-0da398b5ac76"


@pytest.mark.parametrize(("name", "number", "by", "fact_id", "body_id"), VECTORS["context"])
def test_an_attested_fact_has_its_ids(name, number, by, fact_id, body_id):
    fact = second_context()[name]
    assert (fact.fact_id.hex(), fact.body_id.hex()[:8]) == (fact_id, body_id)
    assert len(fact.attest) == len(by.replace("*", "").replace("-", ""))
    assert number == "-" or fact.order == b32(int(number, 16))


def test_the_message_of_an_attestation():
    fact = second_context()["f0"]
    message = attest_message(fact.body_id, U.id, states()["Kp"].commitment, K2.public)
    assert (len(fact.cbor), message.hex()) == (443, VECTORS["f0_message"])
    bumps = bump_hash(fact.namespace.id, b32(0xCC), 0, b32(0xB0))
    assert bumps.hex() == VECTORS["bump_hash"]


def test_a_binding_a_receipt_and_snapshots():
    expected, kp = VECTORS["others"], states()["Kp"].commitment
    plain = first_context()["GuardianBinding"]
    attested = author.attest(plain, U.id, kp, K2)
    assert plain.fact_id.hex() == expected["binding_plain"]
    assert attested.attest[0].sig.hex() == expected["binding_sig"]
    assert attested.fact_id.hex() == expected["binding_attested"]
    assert attested.body_id == plain.body_id
    assert receipt().fact_id.hex() == expected["receipt"]
    some = author.snapshot(
        U,
        sequence=1,
        state_hash=bytes.fromhex(VECTORS["state"]["state_hash"]),
        supersedes=[genesis(), facts()["A0"]],
        order=b32(0x31),
        timestamp={"Range": {"earliest_ms": 1, "latest_ms": 2, "confidence": "Low"}},
    )
    assert author.attest(some, U.id, kp, K2).fact_id.hex() == expected["snapshot"]


def receipt():
    return author.receipt(
        U,
        envelope_id=b32(0xE0),
        authority=U.id,
        commitment=states()["Kp"].commitment,
        received={"PhysicalClock": {"ts_ms": 1700000000000, "uncertainty": 5}},
        signer=K2,
        order=b32(0x30),
        timestamp={"PhysicalClock": {"ts_ms": 1700000000000, "uncertainty": None}},
    )


def test_snapshots_of_all_facts():
    whole = author.snapshot(
        U,
        sequence=1,
        state_hash=bytes.fromhex(VECTORS["state"]["state_hash"]),
        supersedes=facts().values(),
        **at(0x32),
    )
    su = author.attest(whole, U.id, states()["Kp"].commitment, K2)
    assert (su.fact_id.hex(), len(su.cbor)) == (VECTORS["su"], 999)


ED25519 = VECTORS["ed25519"]


def test_a_threshold_signature_is_a_plain_one():
    key, signature = bytes.fromhex(ED25519["frost_key"]), bytes.fromhex(ED25519["frost_sig"])
    assert has_prime_order(key)
    assert verify_ed25519(key, b"test", signature)
    assert verify_by_partner(key, b"test", signature)
    assert not verify_ed25519(key, b"test!", signature)


def test_a_history_that_holders_of_threshold_keys_signed_is_accepted_and_no_flipped_signature_is():
    lines = CASES.with_name("frost.jsonl").read_bytes()
    given = [document.fact for document in read_documents(lines, "lines")]
    assert {verdict.status for verdict in admit(given).verdicts.values()} == {"accepted"}
    found = reduce_authority(given[0].namespace, given)
    assert (found.state.height, found.state.epoch, found.state.required) == (6, 1, 3)
    keys = {fact.attested.op.operation.key.group_key for fact in given if fact.variant == "Genesis"}
    assert found.state.key.group_key not in keys
    for fact in given[:-1]:
        for signature in (flipped(fact.attested.agg_sig, 7), plus_order(fact)):
            forged = with_value(fact, "content.AttestedOp.agg_sig", signature)
            verdict = admit([*given, forged]).verdicts[forged.fact_id]
            assert verdict.reasons == ("SIGNATURE_INVALID",)


def test_a_key_of_mixed_order_verifies_plainly_and_is_no_group_key():
    key, message, signature = (bytes.fromhex(ED25519[f"mixed_{name}"]) for name in ("key", "msg", "sig"))
    assert verify_ed25519(key, message, signature)
    assert not has_prime_order(key)


@pytest.mark.parametrize("key", ED25519["bad_keys"])
def test_a_bad_key_is_no_group_key(key):
    assert not has_prime_order(bytes.fromhex(key))


def test_a_group_key_has_32_bytes():
    key = Ed25519Key(bytes(32)).public
    assert has_prime_order(key)
    assert not any(has_prime_order(other) for other in (b"", key[:31], key + b"\x00"))

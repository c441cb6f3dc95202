"""The state of an authority: the greatest id wins, whatever comes when; columns, full reduction and base agree."""

import base64
import hashlib
import json
from dataclasses import replace

import pytest

from strandline.core.encoding.strict_cbor import encode_cbor, strict_cbor
from strandline.core.errors import FaultError, NamespaceMismatch
from strandline.dialects.aura import author
from strandline.dialects.aura.reduce import (
    ContextAsAuthority,
    Journal,
    TreeStateSummary,
    base_state,
    chain_of,
    forks,
    leaf_proof,
    parse_state,
    proven_root,
    reduce_authority,
    reduce_columns,
    state_cbor,
    verify_fork,
    verify_leaf_proof,
)
from strandline.dialects.aura.types import ANY, AddLeaf, Namespace, Policy, RotateEpoch
from strandline.dialects.aura.verify import EMPTY, admit
from support import public_authorities
from support.aura_attacks import CONTEXT, OTHER, flipped, leaf
from support.aura_cases import (
    K1,
    K2,
    V_ID,
    U,
    after,
    at,
    b32,
    device,
    facts,
    first_context,
    genesis,
    other_authority,
    refused,
    signed,
    states,
    vectors,
)
from support.blake3_chunk import blake3

VECTORS = vectors()
NINE = list(facts().values())
WITH_COPY = [*NINE, refused()["A0'"]]
LOST_TO = {"X": "P", "Rx": "X", "Kx": "X"}


def operations(given):
    return admit(given).operations.values()


def outcomes(chain):
    names = {fact.op_id: name for name, fact in facts().items()}
    return {names.get(op_id, op_id.hex()): row.outcome for op_id, row in chain.rows.items()}


@pytest.mark.parametrize("way", ["full", "columns"])
def test_the_vectors_are_reduced(way):
    found = reduce_authority(U, WITH_COPY) if way == "full" else reduce_columns(U, operations(WITH_COPY))
    state = found.state
    assert found.tree_state == TreeStateSummary(1, states()["Kp"].commitment, 2, 2)
    assert (state.height, state.next_leaf_id, len(found.state_cbor)) == (6, 2, 515)
    assert found.state_hash.hex() == VECTORS["state"]["state_hash"]
    assert outcomes(found.chain) == {vector["name"]: vector["outcome"] for vector in VECTORS["chain"][:9]}
    assert [found.chain.count(each) for each in ("applied", "superseded", "orphaned")] == [6, 1, 2]
    assert list(found.chain.forks) == [states()["A1"].commitment]
    rows = {name: found.chain.rows[fact.op_id] for name, fact in facts().items()}
    assert {name: row.lost_to for name, row in rows.items()} == {
        name: facts()[LOST_TO[name]].op_id if name in LOST_TO else None for name in facts()
    }
    assert {name for name, row in rows.items() if row.siblings == 2} == {"P", "X"}
    assert [name for name, row in rows.items() if row.fact_count == 2] == ["A0"]
    assert rows["A0"].op.fact == min((facts()["A0"], refused()["A0'"]), key=lambda fact: fact.fact_id)


def test_other_authorities_and_no_facts():
    v = Namespace("authority", V_ID)
    assert reduce_authority(v, [other_authority()]).state_hash.hex() == VECTORS["v"]["state_hash"]
    empty = reduce_authority(U, [])
    assert empty.state == EMPTY
    assert reduce_columns(U, []).state == EMPTY
    assert empty.state_hash.hex() == VECTORS["state"]["state_hash_empty"]
    assert empty.tree_state == TreeStateSummary(0, bytes(32), 1, 0)
    with pytest.raises(ContextAsAuthority, match=r"is a context") as refused_:
        reduce_authority(CONTEXT, [])
    assert refused_.value.code == "CONTEXT_AS_AUTHORITY"


def test_a_stored_state_is_read_again():
    for name, state in states().items():
        found = parse_state(state_cbor(U, state))
        assert (found, found.tree.levels) == (state, state.tree.levels), name
    assert parse_state(state_cbor(U, EMPTY)) == EMPTY
    rotated = after(states()["Kp"], signed("Kp", RotateEpoch((), None), 0x60))
    assert (rotated.epoch, parse_state(state_cbor(U, rotated)).key_epoch) == (2, 1)


@pytest.mark.parametrize(
    ("member", "new"),
    [("epoch", 2), ("height", "6"), ("policy", "Any"), ("op_id", bytes(32)), ("leaves", []), ("key", None),
     ("leaves", [1]), ("commitment", bytes(32)), ("policy", {"Threshold": 1}), ("epoch", -1),
     ("epoch", 2**64 - 1)],
)  # fmt: skip
def test_a_damaged_state_is_refused(member, new):
    value = strict_cbor(state_cbor(U, states()["Kp"]), tags=frozenset(), floats=("none",), nesting=8).value
    if (member, new) == ("height", "6"):
        # Not part of the commitment.
        assert parse_state(encode_cbor({**value, "height": 7})).height == 7
        return
    with pytest.raises(FaultError) as refused_:
        parse_state(encode_cbor({**value, member: new}))
    assert refused_.value.code == "STATE_DAMAGED"
    with pytest.raises(FaultError):
        parse_state(b"\xff")


def test_a_late_sibling_with_a_greater_id_wins_below_the_tip_and_not_below_a_base():
    siblings = [signed("A0", AddLeaf(device(1, 0x30 + number), 0), 0x60 + number) for number in range(8)]
    late = max(siblings, key=lambda fact: fact.op_id)
    assert late.op_id > facts()["A1"].op_id
    without, with_late = reduce_authority(U, NINE), reduce_authority(U, [*NINE, late])
    assert with_late.state.commitment == after(states()["A0"], late).commitment
    assert outcomes(with_late.chain)["A1"] == "superseded"
    assert {outcomes(with_late.chain)[name] for name in ("P", "X", "Kp", "Kx")} == {"orphaned"}
    for base in ("A1", "P", "Kp"):
        fenced = reduce_authority(U, [*NINE, late], states()[base])
        assert fenced.state_cbor == without.state_cbor
        assert fenced.chain.rows[late.op_id].outcome == "superseded"
        assert fenced.chain.rows[late.op_id].lost_to == facts()["A1"].op_id
        columns = reduce_columns(U, operations([*NINE, late]), states()[base])
        assert columns.state_cbor == without.state_cbor
    # A base on the branch that would lose makes it win.
    lost = reduce_authority(U, NINE, states()["Rx"])
    assert lost.state == states()["Kx"]
    # A guardian is no device.
    assert (lost.tree_state.device_count, len(lost.state.leaves)) == (2, 3)
    assert outcomes(lost.chain)["P"] == "superseded"


@pytest.mark.parametrize("base", ["G", "A0", "A1", "P", "Rp", "Kp"])
def test_the_state_is_the_same_with_the_history_and_without_it(base):
    whole = reduce_authority(U, NINE, states()[base])
    height = states()[base].height
    after_base = [fact for name, fact in facts().items() if states()[name].height > height]
    on_base = [fact for fact in after_base if fact not in (facts()["Rx"], facts()["Kx"])]
    for given in (after_base, on_base):
        assert reduce_authority(U, given, states()[base]).state_cbor == whole.state_cbor
    accepted = [op for op in operations(NINE) if op.fact in on_base]
    assert reduce_columns(U, accepted, states()[base]).state_cbor == whole.state_cbor


def test_a_damaged_column_is_found():
    good = list(operations(NINE))
    by_fact = {op.fact.fact_id: op for op in good}
    assert reduce_columns(U, good) is not None

    def damaged(name, commitment):
        op = by_fact[facts()[name].fact_id]
        return [each for each in good if each != op] + [replace(op, new_commitment=commitment)]

    for name in ("A0", "P", "Rp", "Kp"):
        assert reduce_columns(U, damaged(name, b32(7))) is None
        # A circle ends, too.
        assert reduce_columns(U, damaged(name, bytes(32))) is None
        assert reduce_columns(U, damaged(name, states()["G"].commitment)) is None
        assert reduce_columns(U, damaged(name, b32(7)), states()["A1"]) is None or name == "A0"
    # Circles on the way to a base, and among operations that lost.
    assert reduce_columns(U, damaged("A0", states()["G"].commitment), states()["G"]) is not None
    assert reduce_columns(U, damaged("Rx", states()["X"].commitment)).state == states()["Kp"]
    # On a branch that lost nothing depends on it.
    assert reduce_columns(U, damaged("Kx", b32(7))).state == states()["Kp"]


def test_a_base_is_the_state_that_the_operations_make():
    ops = list(operations(NINE))
    for name, state in states().items():
        assert base_state(ops, state.commitment) == state, name
    assert base_state(ops, bytes(32)) == EMPTY
    assert base_state(ops, b32(7)) is None
    claimed = [replace(op, new_commitment=b32(7)) if op.height == 1 else op for op in ops]
    circle = [
        replace(op, new_commitment=op.attested.op.parent_commitment) if op.height == 2 else op for op in ops
    ]
    assert base_state(claimed, b32(7)) is None
    assert base_state(claimed, states()["Kp"].commitment) is None
    assert base_state(circle, states()["Kp"].commitment) is None


def test_an_invalid_operation_never_wins_and_blocks_nobody():
    invalid = [refused()["22"], refused()["25"], refused()["26"]]
    found = reduce_authority(U, [*NINE, *invalid])
    assert found.state_cbor == reduce_authority(U, NINE).state_cbor
    assert {fact.op_id for fact in invalid}.isdisjoint(found.chain.rows)
    assert [[each.reason for each in found.invalid[fact.fact_id]] for fact in invalid] == [
        ["LEAF_ID_NOT_NEXT"], ["EPOCH_MISMATCH"], ["POLICY_NOT_STRICTER"]
    ]  # fmt: skip


def test_what_follows_no_state_is_unreachable():
    ops = [op for op in operations(NINE) if op.fact != facts()["A0"]]
    found = chain_of(ops)
    assert {name for name, outcome in outcomes(found).items() if outcome == "unreachable"} == {
        "A1", "P", "X", "Rp", "Rx", "Kp", "Kx"
    }  # fmt: skip
    assert outcomes(found)["G"] == "applied"


def test_two_genesis_operations_are_siblings():
    one, other = (
        author.signed_op(OTHER, genesis_op(salt), signer=K1, signer_count=2, **at(number))
        for number, salt in enumerate((b"\x01" * 16, b"\x02" * 16))
    )
    found = reduce_authority(OTHER, [one, other])
    winner, loser = sorted((one, other), key=lambda fact: fact.op_id, reverse=True)
    assert found.state.op_id == winner.op_id
    assert found.chain.rows[loser.op_id].outcome == "superseded"
    (row,) = forks(OTHER, found.chain)
    assert (row.key, row.position, row.attributable) == ("", f"0:{'00' * 32}", False)


def genesis_op(salt):
    return author.genesis(
        K1, min_signers=2, max_signers=3, policy=ANY, salt=salt, signer_count=2, **at(1)
    ).attested.op


def test_evidence_of_a_fork_is_that_of_the_vectors():
    other = signed("G", AddLeaf(device(0, 0x66), 0), 0x21)
    given = [genesis(), facts()["A0"], refused()["A0'"], other]
    (row,) = forks(U, reduce_authority(U, given).chain)
    assert (len(row.evidence), hashlib.sha256(row.evidence.encode()).hexdigest()) == (
        1689, "8d45988a0cdc01bd0603176ab3ef88962a16c3dd4dc5d2bb84f20dcb7ecbed16"
    )  # fmt: skip
    assert (row.key, row.attributable, row.kind) == (K1.public.hex(), True, "AURA_OP_FORK")
    assert row.position == f"0:{states()['G'].commitment.hex()}"
    members = {min((facts()["A0"], refused()["A0'"]), key=lambda fact: fact.fact_id), other}
    assert set(row.members) == {fact.fact_id for fact in members}
    assert json.loads(row.evidence)["records"][0]["id"] == row.members[0].hex()
    assert list(forks(U, reduce_authority(U, [genesis(), facts()["A0"]]).chain)) == []


def genuine_forks():
    """Evidence of a fork that one key signed, and of two genesis operations of a namespace."""
    (one,) = forks(U, reduce_authority(U, NINE).chain)
    pair = [
        author.signed_op(OTHER, genesis_op(salt), signer=K1, signer_count=2, **at(number))
        for number, salt in enumerate((b"\x01" * 16, b"\x02" * 16))
    ]
    (two,) = forks(OTHER, reduce_authority(OTHER, pair).chain)
    return [one.evidence, two.evidence]


@pytest.mark.large
@pytest.mark.parametrize("number", [0, 1], ids=["of one key", "of two genesis operations"])
def test_evidence_of_a_fork_proves_it_by_itself_and_no_changed_byte_does(number):
    evidence = genuine_forks()[number]
    assert verify_fork(evidence)
    for place, old in enumerate(evidence):
        for new in {chr(ord(old) ^ 1), "A", *("\ud800" * (place % 9 == 0))} - {old}:
            assert not verify_fork(evidence[:place] + new + evidence[place + 1 :]), (place, new)
    for place in range(0, len(evidence), 5):
        assert not verify_fork(evidence[:place] + evidence[place + 1 :])
        assert not verify_fork(evidence[:place])


def test_what_is_no_fork_is_no_evidence_of_one():
    document = json.loads(genuine_forks()[0])

    def told(given, **more):
        records = {fact.fact_id: fact.cbor for fact in given}
        pair = [
            {"bytes": base64.b64encode(records[id_]).decode(), "id": id_.hex()} for id_ in sorted(records)
        ]
        changed = {**document, "records": pair, **more}
        return json.dumps(changed, sort_keys=True, separators=(",", ":"))

    p, x = facts()["P"], facts()["X"]
    position = f"0:{states()['A1'].commitment.hex()}"
    assert verify_fork(told([p, x], position=position))
    for given, more in (
        ([p, facts()["A1"]], {}),
        ([facts()["A0"], refused()["A0'"]], {"position": f"0:{states()['G'].commitment.hex()}"}),
        ([p, signed("A1", AddLeaf(device(2, 0x55), 0), 0x60, K2)], {}),
        ([p, x], {"key": K2.public.hex()}),
        ([p, x], {"key": ""}),
        ([p, x], {"key": 1}),
        ([p, x], {"position": "1" + position[1:]}),
        ([p, x], {"namespace": OTHER.text}),
        ([p, x], {"dialect": "sdmp"}),
        ([p, x], {"more": 1}),
        ([p], {}),
        ([p, first_context()["Generic"]], {}),
    ):
        assert not verify_fork(told(given, **{"position": position, **more})), more
    for text in (
        "",
        "1",
        "{}",
        '{"key":"","records":1}',
        '{"key":"","records":[{"bytes":"!"},{"bytes":1}]}',
        "[" * 99,
    ):
        assert not verify_fork(text)


# Proofs.


def test_the_proof_of_the_vectors():
    proof = leaf_proof(states()["Kp"], 0)
    assert (proof.position, proof.leaves, [each.hex() for each in proof.siblings]) == (
        0, 2, [VECTORS["state"]["sibling"]]
    )  # fmt: skip
    assert proven_root(proof).hex() == VECTORS["state"]["root"]
    assert verify_leaf_proof(states()["Kp"].commitment, proof)
    assert not verify_leaf_proof(states()["Rp"].commitment, proof)
    with pytest.raises(KeyError):
        leaf_proof(states()["Kp"], 2)


def state_with(count):
    state = states()["G"]
    for number in range(count):
        fact = author.append(U, state, AddLeaf(leaf(number, number), 0), signer=K1, **at(1))
        state = after(state, fact)
    return state


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9])
def test_every_leaf_has_a_proof_and_no_changed_proof_holds(count):
    state = state_with(count)
    for number in range(count):
        proof = leaf_proof(state, number)
        assert verify_leaf_proof(state.commitment, proof)
        for changed in changes(proof):
            assert not verify_leaf_proof(state.commitment, changed), changed


def changes(proof):
    """The proof with one value changed, each in its turn."""
    yield replace(proof, leaf_id=proof.leaf_id + 1)
    yield replace(proof, public_key=proof.public_key + b"\x00")
    yield replace(proof, position=(proof.position + 1) % proof.leaves if proof.leaves > 1 else 1)
    for name in ("leaves", "threshold", "epoch"):
        yield replace(proof, **{name: getattr(proof, name) + 1})
        yield replace(proof, **{name: -1})
        yield replace(proof, **{name: 2**70})
    yield replace(proof, leaves=2**40, siblings=(bytes(32),) * 40)
    yield replace(proof, op_id=bytes(32))
    yield replace(proof, op_id=b"")
    yield replace(proof, policy=Policy("Threshold", 2, 3))
    yield replace(proof, policy=Policy("Threshold", 2**20, 3))
    for name, value in (("group_key", bytes(32)), ("min_signers", 1), ("max_signers", -1)):
        yield replace(proof, key=replace(proof.key, **{name: value}))
    for number in range(32):
        yield replace(proof, op_id=flipped(proof.op_id, 8 * number))
        yield replace(proof, public_key=flipped(proof.public_key, 8 * number))
        yield replace(proof, key=replace(proof.key, group_key=flipped(proof.key.group_key, 8 * number)))
        for place, sibling in enumerate(proof.siblings):
            new = flipped(sibling, 8 * number)
            yield replace(proof, siblings=(*proof.siblings[:place], new, *proof.siblings[place + 1 :]))
    yield replace(proof, siblings=())
    yield replace(proof, siblings=(*proof.siblings, bytes(32)))
    for place, sibling in enumerate(proof.siblings):
        for new in (bytes(32), sibling[:-1], bytes([sibling[0] ^ 1]) + sibling[1:]):
            yield replace(proof, siblings=(*proof.siblings[:place], new, *proof.siblings[place + 1 :]))


# Journals.


def test_journals_of_one_namespace_join():
    one, other = Journal(U, NINE[:5]), Journal(U, WITH_COPY[3:])
    both = one.join(other)
    assert len(both) == len(WITH_COPY)
    assert both == other.join(one) == both.join(one)
    assert hash(both) == hash(other.join(one))
    assert both != one
    assert [fact.order for fact in both.facts] == sorted(fact.order for fact in both.facts)
    for wrong in (
        lambda: one.join(Journal(CONTEXT)),
        lambda: Journal(U, [first_context()["Generic"]]),
    ):
        with pytest.raises(NamespaceMismatch):
            wrong()


def test_facts_with_one_order_are_both_there():
    pair = [signed("G", RotateEpoch((), None), 0x60), signed("A0", RotateEpoch((), None), 0x60)]
    assert len(Journal(U, [*pair, *pair])) == 2
    assert Journal(U, pair).facts == tuple(sorted(pair, key=lambda fact: fact.fact_id))


# The public reducer.


def public(*operations_, order=None):
    made = [
        {
            "order": order or f"{number:064x}",
            "timestamp": {"OrderClock": f"{number:064x}"},
            "content": {"AttestedOp": {"tree_op": operation}},
        }
        for number, operation in enumerate(operations_)
    ]
    return {"namespace": U.text, "facts": [*made, {"order": "ff", "timestamp": {}, "content": {"Other": {}}}]}


def add(number, role="Device"):
    return {"AddLeaf": {"public_key": [number] * 32, "role": role}}


def expected(number):
    epoch, commitment, threshold, devices = VECTORS["compat"][number]
    return (int(epoch), bytes.fromhex(commitment), int(threshold), int(devices))


def test_the_public_reducer_gives_what_the_published_source_does():
    document = public(
        add(1), add(2), {"UpdatePolicy": {"threshold": 2}}, "RotateEpoch", {"RemoveLeaf": {"leaf_index": 0}},
        add(3, "Guardian"),
    )  # fmt: skip
    assert public_authorities.reduce_authority(document) == expected(0)
    assert public_authorities.reduce_authority({**document, "facts": document["facts"][::-1]}) == expected(0)
    eight = public(*(add(number) for number in range(1, 9)))
    assert (
        public_authorities.reduce_authority(eight)
        == public_authorities.reduce_authority(eight, ties="all")
        == expected(1)
    )
    assert public_authorities.reduce_authority(eight, blake3)[0] == 0
    assert public_authorities.reduce_authority(eight, blake3)[1] != expected(1)[1]
    assert public_authorities.reduce_authority(public({"RemoveLeaf": {"leaf_index": 0}}))[3] == 0


def test_the_public_reducer_and_facts_with_one_order():
    tied = public(add(1), add(2), add(2), order="00" * 32)
    tied["facts"][2] = tied["facts"][1]
    assert public_authorities.reduce_authority(tied) == public_authorities.reduce_authority(public(add(1)))
    assert public_authorities.reduce_authority(tied, ties="all")[3] == 2
    turned = {**tied, "facts": tied["facts"][::-1]}
    assert public_authorities.reduce_authority(turned, ties="all") == public_authorities.reduce_authority(
        tied, ties="all"
    )
    assert public_authorities.reduce_authority(turned) != public_authorities.reduce_authority(tied)

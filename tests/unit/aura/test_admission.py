"""Which facts join: the sets decide, never order; what waits is admitted when what it waits for came."""

from itertools import permutations
from random import Random

import pytest

from strandline.core.verdict import encode_evidence
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import encode, read_documents, to_json
from strandline.dialects.aura.types import ANY, AddLeaf, FactDocument, Namespace, RotateEpoch, Unreadable
from strandline.dialects.aura.verify import AcceptedFacts, admit, authorities, judge
from support.aura_attacks import (
    CONTEXT,
    OTHER,
    by_stranger,
    charge,
    flipped,
    generic,
    leaf,
    moved_genesis,
    receipt,
    relational,
    snapshot,
    with_value,
)
from support.aura_cases import (
    K1,
    K2,
    K3,
    V_ID,
    U,
    after,
    at,
    attested,
    b32,
    facts,
    genesis,
    other_authority,
    refused,
    second_context,
    states,
    vectors,
)

CHAIN = list(facts().values())
BOTH = [*CHAIN, other_authority()]
CONTEXT_FACTS = list(second_context().values())
GENESIS = second_context()["g"]


def verdict(fact, others=(), accepted=(), pins=None):
    found = admit([*others, fact], accepted, pins).verdicts[fact.fact_id]
    assert bool(found.waits_for) == (found.status == "deferred")
    assert len(encode_evidence(found.evidence)) < 2_000
    return found.status, " ".join(found.reasons), " ".join(found.waits_for)


ACCEPTED = ("accepted", "", "")


def rejected(*reasons):
    return "rejected", " ".join(reasons), ""


# Authorities.


@pytest.mark.parametrize("vector", vectors()["chain"], ids=lambda vector: vector["name"])
def test_the_vectors_get_their_verdicts(vector):
    fact = {**facts(), **refused()}[vector["name"]]
    expected = (vector.get("status", "accepted"), vector.get("reason", ""))
    assert verdict(fact, CHAIN)[:2] == expected


def test_an_operation_waits_for_the_state_that_it_names():
    waits = f"state:{U.text}#{states()['A0'].commitment.hex()}"
    assert verdict(facts()["A1"]) == ("deferred", "PARENT_MISSING", waits)
    assert verdict(facts()["A1"], [facts()["A0"]])[0] == "deferred"
    assert verdict(facts()["A1"], [facts()["A0"], genesis()]) == ACCEPTED
    assert verdict(facts()["A1"], accepted=[facts()["A0"], genesis()]) == ACCEPTED


def test_what_follows_a_rejected_operation_waits():
    forged = with_value(facts()["A0"], "content.AttestedOp.agg_sig", bytes(64))
    assert verdict(forged, [genesis()]) == rejected("SIGNATURE_INVALID")
    assert verdict(facts()["A1"], [genesis(), forged])[:2] == ("deferred", "PARENT_MISSING")
    # A rejected copy does not stand in the way of a good one.
    assert verdict(facts()["A1"], [genesis(), forged, facts()["A0"]]) == ACCEPTED


def foreign(namespace, salt=b"\x09" * 16, signer=K1):
    """A genesis that somebody signed for a namespace that does not derive from it."""
    own = author.genesis(
        signer, min_signers=2, max_signers=3, policy=ANY, salt=salt, signer_count=2, **at(0x62)
    )
    return author.signed_op(namespace, own.attested.op, signer=signer, signer_count=2, **at(0x62))


def test_a_foreign_genesis_waits_until_there_is_one_to_compare_it_with():
    stranger = foreign(U)
    assert verdict(stranger) == ("deferred", "GENESIS_UNPINNED", f"pin:{U.text}")
    assert verdict(stranger, [genesis()]) == rejected("GENESIS_PIN_MISMATCH")
    assert verdict(stranger, accepted=[genesis()]) == rejected("GENESIS_PIN_MISMATCH")
    assert verdict(genesis(), [stranger]) == ACCEPTED


def test_a_pin_decides_which_genesis_is_that_of_a_namespace():
    one, other = foreign(OTHER), foreign(OTHER, b"\x08" * 16)
    pins = {OTHER.text: one.op_id}
    assert verdict(one, [other], pins=pins) == ACCEPTED
    assert verdict(other, [one], pins=pins) == rejected("GENESIS_PIN_MISMATCH")
    assert verdict(genesis(), pins={U.text: b32(1)}) == rejected("GENESIS_PIN_MISMATCH")
    assert verdict(genesis(), pins={U.text: genesis().op_id}) == ACCEPTED
    # An accepted one stays, and is the anchor of its copies, when the pin is given no more.
    again = author.signed_op(OTHER, one.attested.op, signer=K1, signer_count=3, **at(0x63))
    assert verdict(one, accepted=[one]) == ACCEPTED
    assert verdict(again, accepted=[one]) == ACCEPTED
    assert verdict(other, accepted=[one]) == rejected("GENESIS_PIN_MISMATCH")


def test_a_genesis_that_is_pinned_must_be_signed():
    one = foreign(OTHER)
    forged = with_value(one, "content.AttestedOp.agg_sig", flipped(one.attested.agg_sig, 3))
    assert verdict(forged, pins={OTHER.text: one.op_id}) == rejected("SIGNATURE_INVALID")


def test_anchors_and_columns_of_accepted_operations():
    found = admit(CHAIN).operations
    by_name = {name: found[fact.fact_id] for name, fact in facts().items()}
    assert {name: each.anchor for name, each in by_name.items() if each.anchor} == {"G": "self"}
    assert admit([one := foreign(OTHER)], pins={OTHER.text: one.op_id}).operations[one.fact_id].anchor == (
        "pin"
    )
    kp, rp = by_name["Kp"], by_name["Rp"]
    assert (kp.height, kp.new_epoch, kp.group_key, kp.new_group_key) == (6, 1, K2.public, K2.public)
    assert (rp.height, rp.new_epoch, rp.group_key, rp.new_group_key) == (5, 1, K1.public, K2.public)
    assert (kp.witness_threshold, by_name["G"].witness_threshold, kp.new_threshold) == (2, 2, 2)
    assert (kp.new_min_signers, kp.new_max_signers) == (2, 2)
    assert {name: each.new_commitment for name, each in by_name.items()} == {
        name: state.commitment for name, state in states().items()
    }


def test_an_operation_copied_to_another_authority_waits_there_for_ever():
    copied = with_value(facts()["A0"], "namespace", {"Authority": V_ID})
    assert verdict(copied, BOTH)[:2] == ("deferred", "PARENT_MISSING")


# Contexts.


def test_the_facts_of_the_context_are_admitted_with_the_authorities_and_wait_without_them():
    assert {verdict(fact, [*BOTH, *CONTEXT_FACTS]) for fact in CONTEXT_FACTS} == {ACCEPTED}
    found = admit(CONTEXT_FACTS).verdicts
    waiting = {fact.variant for fact in CONTEXT_FACTS if found[fact.fact_id].status == "deferred"}
    assert waiting == {fact.variant for fact in CONTEXT_FACTS} - {"ContextGenesis"}
    binding = second_context()["b1"]
    u = f"state:{U.text}#{states()['Kp'].commitment.hex()}"
    v = f"state:authority:061aaea1-e583-0684-dd97-2e75f5a98f4a#{vectors()['v']['commitment']}"
    assert verdict(binding, [GENESIS]) == ("deferred", "AUTHORITY_STATE_MISSING", f"{v} {u}")
    assert verdict(binding, [GENESIS, *CHAIN]) == ("deferred", "AUTHORITY_STATE_MISSING", v)
    missing = f"state:{CONTEXT.text}#genesis"
    assert verdict(binding, BOTH) == ("deferred", "CONTEXT_GENESIS_MISSING", missing)


def test_another_genesis_map_of_a_context():
    other = author.context_genesis([U.id], bytes(16))
    moved = encode({**other.value, "namespace": {"Context": CONTEXT.id}})
    assert verdict(moved) == ("deferred", "GENESIS_UNPINNED", f"pin:{CONTEXT.text}")
    assert verdict(moved, [GENESIS]) == rejected("GENESIS_PIN_MISMATCH")
    assert verdict(moved, accepted=[GENESIS]) == rejected("GENESIS_PIN_MISMATCH")
    assert verdict(moved, [GENESIS], pins={CONTEXT.text: moved.order}) == ACCEPTED
    assert verdict(GENESIS, [moved], pins={CONTEXT.text: moved.order}) == rejected("GENESIS_PIN_MISMATCH")
    assert verdict(GENESIS, [moved]) == ACCEPTED
    assert verdict(moved, accepted=[moved]) == ACCEPTED


def test_of_two_maps_with_one_context_id_the_lesser_digest_is_the_genesis(monkeypatch):
    # Maps with one id take 2^64 tries: here every digest derives every id.
    monkeypatch.setattr("strandline.dialects.aura.verify.admission._is_derived", lambda _: True)
    maps = [author.context_genesis([U.id], bytes([number]) * 16) for number in range(4)]
    moved = [encode({**fact.value, "namespace": {"Context": CONTEXT.id}}) for fact in maps]
    least, *others = sorted(moved, key=lambda fact: fact.order)
    for given in (moved, moved[::-1]):
        found = admit(given).verdicts
        assert found[least.fact_id].status == "accepted"
        assert {found[fact.fact_id].reasons for fact in others} == {("GENESIS_PIN_MISMATCH",)}
    # Once accepted it stays, and a pin decides before.
    assert verdict(least, accepted=[others[0]]) == rejected("GENESIS_PIN_MISMATCH")
    assert verdict(others[0], [least], pins={CONTEXT.text: others[0].order}) == ACCEPTED


def test_strangers_and_parties_that_are_no_members():
    known = [*BOTH, GENESIS]
    assert verdict(by_stranger(second_context()["n1"]), known) == rejected("ATTESTOR_NOT_MEMBER")
    stranger = b"\xee" * 16
    for made in (
        relational("GuardianBinding", {"account_id": stranger, "guardian_id": U.id, "binding_hash": b32(1)}),
        relational("RecoveryGrant", {"account_id": U.id, "guardian_id": stranger, "grant_hash": b32(1)}),
        charge(src=stranger),
        charge(dst=stranger),
        relational(
            "Capability",
            {"context": CONTEXT.id, "subject": stranger, "actions": None, "limits": {}, "epoch_min": None,
             "epoch_max": None},
        ),
        receipt(CONTEXT, stranger),
    ):  # fmt: skip
        assert verdict(made, known) == rejected("PARTY_NOT_MEMBER")
    assert verdict(by_stranger(charge(dst=stranger)), known) == rejected(
        "ATTESTOR_NOT_MEMBER", "PARTY_NOT_MEMBER"
    )


def test_a_forged_attestation_is_rejected_even_if_another_state_is_unknown():
    both = attested(generic("x"), "v")
    forged = with_value(
        both, "attest", [{**both.value["attest"][0], "sig": bytes(64)}, both.value["attest"][1]]
    )
    assert forged.attest[0].authority == V_ID
    assert verdict(forged, [*BOTH, GENESIS]) == rejected("ATTEST_SIGNATURE_INVALID")
    assert verdict(forged, [other_authority(), GENESIS]) == rejected("ATTEST_SIGNATURE_INVALID")
    assert verdict(forged, [*CHAIN, GENESIS])[:2] == ("deferred", "AUTHORITY_STATE_MISSING")


def test_the_evidence_of_a_forged_attestation_is_that_of_the_fact_whatever_came_before():
    both = attested(generic("x"), "v")
    forged = encode({**both.value, "attest": [{**each, "sig": bytes(64)} for each in both.value["attest"]]})
    rows = set()
    for others in permutations(([*CHAIN], [other_authority()], [GENESIS, forged])):
        accepted, last = AcceptedFacts(), None
        for given in others:
            found = judge([FactDocument(fact, 0) for fact in given], accepted)
            accepted = found.accepted
            for row in found.quarantine:
                last = row
        assert (last.status, last.reasons) == ("rejected", ("ATTEST_SIGNATURE_INVALID",))
        rows.add(encode_evidence(last.evidence))
    states_of_both = sorted(
        f"state:{Namespace('authority', each.authority).text}#{each.commitment.hex()}"
        for each in forged.attest
    )
    assert rows == {encode_evidence({"ATTEST_SIGNATURE_INVALID": {"states": states_of_both}})}


def test_an_attestation_counts_at_a_state_that_lost_and_under_no_other_key():
    known = [*BOTH, GENESIS]
    assert verdict(second_context()["n3"], known) == ACCEPTED
    by_old_key = author.attest(generic("x", by=()), U.id, states()["Kp"].commitment, K1)
    assert verdict(by_old_key, known) == rejected("ATTEST_SIGNATURE_INVALID")
    other_state = author.attest(generic("x", by=()), U.id, states()["Rp"].commitment, K2)
    moved = with_value(
        other_state, "attest", [{**other_state.value["attest"][0], "commitment": states()["Kp"].commitment}]
    )
    assert verdict(other_state, known) == ACCEPTED
    # The state is signed, too, even where its key is the same.
    assert verdict(moved, known) == rejected("ATTEST_SIGNATURE_INVALID")


@pytest.mark.parametrize(
    ("path", "new"),
    [("order", b32(1)), ("timestamp", {"OrderClock": b32(1)}),
     ("content", generic("y").value["content"])],
)  # fmt: skip
def test_an_attested_fact_cannot_be_changed(path, new):
    assert verdict(with_value(generic("x"), path, new), [*BOTH, GENESIS]) == rejected(
        "ATTEST_SIGNATURE_INVALID"
    )


def test_an_attested_fact_cannot_be_moved_to_another_context():
    other = author.context_genesis([U.id, V_ID], b"\x55" * 16)
    one = relational("GuardianBinding", {"account_id": U.id, "guardian_id": V_ID, "binding_hash": b32(1)})
    moved = with_value(one, "namespace", {"Context": other.namespace.id})
    assert verdict(moved, [*BOTH, GENESIS, other]) == rejected("ATTEST_SIGNATURE_INVALID")


def test_a_charge_has_the_epoch_of_the_state_that_its_source_names():
    known = [*BOTH, GENESIS]
    assert verdict(charge(epoch=1), known) == ACCEPTED
    assert verdict(charge(epoch=0), known) == rejected("CHARGE_EPOCH")
    assert verdict(charge(epoch=0), [other_authority(), GENESIS])[0] == "deferred"
    # Of another attestor the epoch does not matter, and neither does that of a limit.
    by_other = author.attest(
        author.relational(CONTEXT, "FlowCharge", charge(epoch=9).content, **at(0x70)),
        V_ID,
        bytes.fromhex(vectors()["v"]["commitment"]),
        K3,
    )
    assert verdict(by_other, known) == ACCEPTED


# Snapshots and receipts.


@pytest.mark.parametrize("namespace", [U, CONTEXT])
def test_receipts_are_signed_under_the_state_that_they_name(namespace):
    known = [*BOTH, GENESIS]
    assert verdict(receipt(namespace), known) == ACCEPTED
    assert verdict(receipt(namespace, signer=K1), known) == rejected("ATTEST_SIGNATURE_INVALID")
    assert verdict(receipt(namespace, commitment=b32(9)), known)[:2] == (
        "deferred", "AUTHORITY_STATE_MISSING"
    )  # fmt: skip
    for path in ("envelope_id", "timestamp"):
        new = {"OrderClock": b32(1)} if path == "timestamp" else b32(1)
        changed = with_value(receipt(namespace), f"content.RendezvousReceipt.{path}", new)
        assert verdict(changed, known) == rejected("ATTEST_SIGNATURE_INVALID")


def test_snapshots_are_attested():
    for namespace in (U, CONTEXT):
        assert verdict(snapshot(namespace), [*BOTH, GENESIS]) == ACCEPTED
        forged = with_value(snapshot(namespace), "content.Snapshot.sequence", 2)
        assert verdict(forged, [*BOTH, GENESIS]) == rejected("ATTEST_SIGNATURE_INVALID")


# Runs.


def documents(given):
    return [FactDocument(fact, 0) for fact in given]


def everything():
    bad = [generic("consensus"), charge(epoch=0), moved_genesis(order=b32(0x51)), foreign(U)]
    return [*BOTH, *refused().values(), *CONTEXT_FACTS, *bad]


def summary(judgement):
    return set(judgement.accepted.facts), set(judgement.accepted.waiting)


def test_order_repetition_and_splits_make_no_difference():
    whole = judge(documents(everything()))
    expected = summary(whole)
    chance = Random(11)
    for _ in range(12):
        given = everything() + chance.choices(everything(), k=10)
        chance.shuffle(given)
        before, at_, rejected_ = None, 0, set()
        while at_ < len(given):
            size = chance.randrange(1, 30)
            run = judge(documents(given[at_ : at_ + size]), before)
            counts = run.counts
            assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred
            rejected_ |= {row.record_id for row in run.quarantine if row.status == "rejected"}
            before, at_ = run.accepted, at_ + size
        assert (set(before.facts), set(before.waiting)) == expected
        assert rejected_ == {row.record_id for row in whole.quarantine if row.status == "rejected"}


def test_a_repeated_run_knows_everything():
    given = documents(everything())
    first = judge(given)
    again = judge(given, first.accepted)
    assert (again.counts.new, again.counts.known) == (0, first.counts.new)
    assert summary(again) == summary(first)
    assert (again.counts.rejected, again.counts.deferred) == (first.counts.rejected, first.counts.deferred)


def test_waiting_facts_are_admitted_when_what_they_wait_for_came():
    first = judge(documents([*CONTEXT_FACTS, *CHAIN[1:]]))
    assert first.counts.new == 1
    rows = {row.record_id: row for row in first.quarantine}
    assert rows[facts()["A0"].fact_id].raw == facts()["A0"].cbor
    second = judge(documents([other_authority(), genesis(), facts()["A0"]]), first.accepted)
    assert second.counts.readmitted == len(CONTEXT_FACTS) - 1 + len(CHAIN) - 1
    # What came again was known by then.
    assert (second.counts.new, second.counts.known, second.counts.deferred) == (2, 1, 0)
    assert second.accepted.waiting == {}


def test_accepted_operations_are_not_verified_again(monkeypatch):
    calls = []
    original = authorities.judge_op
    monkeypatch.setattr(
        authorities, "judge_op", lambda fact, *rest: calls.append(fact) or original(fact, *rest)
    )
    assert verdict(refused()["A0'"], CHAIN, accepted=CHAIN) == ACCEPTED
    assert calls == [refused()["A0'"]]


def test_a_waiting_fact_can_be_refuted():
    forged = with_value(facts()["A0"], "content.AttestedOp.agg_sig", bytes(64))
    first = judge(documents([forged, foreign(U)]))
    assert first.counts.deferred == 2
    second = judge(documents([genesis()]), first.accepted)
    assert {row.reasons for row in second.quarantine} == {("SIGNATURE_INVALID",), ("GENESIS_PIN_MISMATCH",)}
    assert second.accepted.waiting == {}
    assert (second.counts.read, second.counts.new, second.counts.rejected) == (1, 1, 0)


def test_what_is_not_a_fact_is_a_row_with_the_namespace_of_its_document():
    unreadable = Unreadable(("TYPE_INVALID",), b"1", 3, {"TYPE_INVALID": {"field": ""}}, U)
    (row,) = judge([unreadable]).quarantine
    assert (row.status, row.namespace, row.record_id, row.raw) == ("rejected", U.text, None, b"1")


def test_each_fact_of_a_chain_in_reverse_with_many_children_is_judged_once(monkeypatch):
    calls = []
    original = authorities.judge_op
    monkeypatch.setattr(
        authorities, "judge_op", lambda fact, *rest: calls.append(fact) or original(fact, *rest)
    )
    state, chain = after(states()["G"], facts()["A0"]), []
    for number in range(300):
        chain.append(author.append(U, state, RotateEpoch((), None), signer=K1, **at(number % 250)))
        state = after(state, chain[-1])
    children = [
        author.append(U, state, AddLeaf(leaf(1, 0x20 + number), 0), signer=K1, **at(number))
        for number in range(100)
    ]
    given = [*children, *reversed(chain), facts()["A0"], genesis()]
    assert {each.status for each in admit(given).verdicts.values()} == {"accepted"}
    assert len(calls) == len(given)


@pytest.mark.large
def test_foreign_geneses_cost_no_signature_and_do_not_slow_the_own_chain(monkeypatch):
    calls = []
    original = authorities.judge_op
    monkeypatch.setattr(
        authorities, "judge_op", lambda fact, *rest: calls.append(fact) or original(fact, *rest)
    )
    strangers = [foreign(U, number.to_bytes(16, "big"), K3) for number in range(500)]
    found = admit([*strangers, *CHAIN]).verdicts
    assert {found[fact.fact_id].reasons for fact in strangers} == {("GENESIS_PIN_MISMATCH",)}
    assert {found[fact.fact_id].status for fact in CHAIN} == {"accepted"}
    assert sorted(fact.fact_id for fact in calls) == sorted(fact.fact_id for fact in CHAIN)


def test_a_fact_survives_json_and_is_judged_alike():
    lines = "\n".join(to_json(fact) for fact in everything()).encode()
    assert summary(judge(read_documents(lines, "lines"))) == summary(judge(documents(everything())))

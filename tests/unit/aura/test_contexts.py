"""What a context's facts mean together: who must stand behind each, what waits, what attackers get."""

from hypothesis import given
from hypothesis import strategies as st

from strandline.dialects.aura import author
from strandline.dialects.aura.reduce.contexts import (
    TOP,
    Cap,
    Flow,
    FlowKey,
    bindings,
    bump_hash,
    capabilities,
    effective_limit,
    headroom,
    is_bottom,
    meet,
    quorum,
    reduce_context,
)
from strandline.dialects.aura.verify import rule_findings
from support.aura_cases import CHANNEL, K1, K2, V_ID, U, b32, second_context, states
from support.context_cases import NAMESPACE, chains, named_facts, of_context, reattested, reduced
from support.effort import Counted
from support.laws import law

MOST = 2**64 - 1
G = second_context()["g"]


def consensus(number, parent, bump, by="uv", *, threshold_met=True, participants=2, consensus_id=0x06):
    return of_context(
        "Consensus", number, by, consensus_id=b32(consensus_id), threshold_met=threshold_met,
        operation_hash=bump_hash(NAMESPACE.id, CHANNEL, parent, b32(bump)), participant_count=participants,
    )  # fmt: skip


def commit(number, parent, bump, by="v", *, consensus_id=0x06):
    return of_context(
        "AmpCommittedChannelEpochBump", number, by, channel=CHANNEL, parent_epoch=parent, new_epoch=parent + 1,
        chosen_bump_id=b32(bump), consensus_id=b32(consensus_id),
    )  # fmt: skip


def proposal(number, parent, bump, reason, by="u"):
    return of_context(
        "AmpProposedChannelEpochBump", number, by, channel=CHANNEL, parent_epoch=parent, new_epoch=parent + 1,
        bump_id=b32(bump), reason=reason,
    )  # fmt: skip


def checkpoint(number, epoch, generation, commitment=0x10, override=None, by="u"):
    return of_context(
        "AmpChannelCheckpoint", number, by, channel=CHANNEL, chan_epoch=epoch, base_gen=generation, window=1,
        ck_commitment=b32(commitment), skip_window_override=override,
    )  # fmt: skip


def policy(number, window):
    return of_context("AmpChannelPolicy", number, channel=CHANNEL, skip_window=window)


def charge(number, cost, nonce=0, by="u", epoch=1):
    return of_context(
        "FlowCharge", number, by, src=U.id, dst=V_ID, epoch=epoch, cost=cost, nonce=nonce, prev=b32(nonce)
    )


def limit(number, value, by="v"):
    return of_context("FlowLimit", number, by, src=U.id, dst=V_ID, epoch=1, limit=value)


def refinement(number, by, **content):
    shape = {"actions": None, "limits": {}, "epoch_min": None, "epoch_max": None}
    return of_context("Capability", number, by, subject=V_ID, **{**shape, **content})


def channel(*facts, **more):
    [found] = reduced([G, *facts], **more).channels
    return found


def flow(*facts, **more):
    [found] = reduced([G, *facts], **more).flows
    return found


def test_a_quorum_is_more_than_two_thirds():
    assert [quorum(members) for members in range(1, 11)] == [1, 2, 3, 3, 4, 5, 5, 6, 7, 7]


def test_without_its_genesis_nothing_of_a_context_counts():
    found = reduced([fact for name, fact in named_facts().items() if name != "g"])
    assert (found.rows, found.met, found.members, found.tips) == ([], {}, frozenset(), ())


def test_a_guardian_binding_of_the_account_alone_waits_for_the_guardians_copy():
    content = {"account_id": U.id, "guardian_id": V_ID, "binding_hash": b32(1)}
    alone = of_context("GuardianBinding", 0x10, "u", **content)
    copy = reattested(alone, "v")
    assert reduced([G, alone]).bindings == ()
    [binding] = reduced([G, alone, copy]).bindings
    assert binding.body.on_chain == {U.id, V_ID}
    at_a_lost_state = reattested(alone, ["u*"])
    assert reduced([G, at_a_lost_state, copy]).bindings == ()


def test_a_grant_needs_the_guardian_and_the_binding():
    content = {"account_id": U.id, "guardian_id": V_ID}
    binding = of_context("GuardianBinding", 0x10, "uv", **content, binding_hash=b32(1))
    grant = of_context("RecoveryGrant", 0x11, "v", **content, grant_hash=b32(2))
    by_account = reattested(grant, "u")
    kinds = lambda *facts: [each.binding_type for each in reduced([G, *facts]).bindings]  # noqa: E731
    assert kinds(grant) == []
    assert kinds(binding, by_account) == ["GuardianBinding"]
    assert kinds(binding, grant) == ["GuardianBinding", "RecoveryGrant"]


def test_of_two_bindings_of_a_pair_the_greatest_body_counts_and_equal_hashes_are_no_duplicates():
    content = {"account_id": U.id, "guardian_id": V_ID}
    bodies = [
        of_context("GuardianBinding", number, "uv", **content, binding_hash=b32(value))
        for number, value in ((0x10, 1), (0x11, 2), (0x12, 2), (0x13, 3))
    ]
    [binding] = reduced([G, *bodies]).bindings
    assert binding.body.body_id == max(fact.body_id for fact in bodies)
    assert binding.duplicates == 2


def test_of_many_proven_consensus_over_a_binding_the_least_are_shown_with_it(monkeypatch):
    binding = of_context("Generic", 0x10, binding_type="note", binding_data=b"hi")
    proofs = [
        of_context(
            "Consensus", number, "uv", consensus_id=b32(number), operation_hash=binding.body_id, threshold_met=True,
            participant_count=0,
        )
        for number in (0x12, 0x11)
    ]  # fmt: skip
    found = reduced([G, binding, *proofs]).bindings
    assert {each.generic_type: each.consensus_ids for each in found}["note"] == (b32(0x11), b32(0x12))
    monkeypatch.setattr(bindings, "MAX_MEMBERS", 1)
    found = reduced([G, binding, *proofs]).bindings
    assert [each.consensus_ids for each in found if each.generic_type == "note"] == [(b32(0x11),)]
    assert sum(each.generic_type == bindings.CONSENSUS for each in found) == 2


def test_a_consensus_is_proven_by_attestations_and_not_by_what_it_claims():
    for given_, is_proven in (
        (consensus(0x10, 0, 0xB0), True),
        (consensus(0x10, 0, 0xB0, threshold_met=False), False),
        (consensus(0x10, 0, 0xB0, by="u"), False),
        (consensus(0x10, 0, 0xB0, participants=3), False),
        (consensus(0x10, 0, 0xB0, participants=65535), False),
        (consensus(0x10, 0, 0xB0, participants=0), True),
        (consensus(0x10, 0, 0xB0, by=["u*", "v"]), False),
    ):
        found = channel(given_, commit(0x11, 0, 0xB0))
        assert (found.epoch, found.unproven) == ((1, 0) if is_proven else (0, 1))
    for other in (commit(0x11, 0, 0xB1), commit(0x11, 1, 0xB0), commit(0x11, 0, 0xB0, consensus_id=7)):
        assert channel(consensus(0x10, 0, 0xB0), other).epoch == 0


def test_two_copies_of_a_consensus_prove_it_and_two_bodies_do_not():
    body = consensus(0x10, 0, 0xB0, by="u")
    assert channel(body, reattested(body, "v"), commit(0x11, 0, 0xB0)).epoch == 1
    assert channel(body, consensus(0x12, 0, 0xB0, by="v"), commit(0x11, 0, 0xB0)).epoch == 0


def test_a_binding_of_the_type_consensus_is_refused():
    for kind in ("consensus", "strandline/x"):
        fact = of_context("Generic", 0x10, binding_type=kind, binding_data=b"")
        assert [each.reason for each in rule_findings(fact)] == ["BINDING_TYPE_RESERVED"]


def test_a_commit_beyond_a_gap_is_dormant_until_the_gap_closes():
    first = [consensus(0x10, 0, 0xB0), commit(0x11, 0, 0xB0)]
    second = [consensus(0x12, 1, 0xB1), commit(0x13, 1, 0xB1)]
    third = [consensus(0x14, 2, 0xB2), commit(0x15, 2, 0xB2)]
    last = [consensus(0x16, MOST - 1, 0xB3), commit(0x17, MOST - 1, 0xB3)]
    found = channel(*first, *third, *last)
    assert (found.epoch, found.dormant) == (1, 2)
    found = channel(*first, *second, *third, *last)
    assert (found.epoch, found.dormant) == (3, 1)


def test_two_bumps_proven_for_one_epoch_are_one_step():
    found = channel(
        consensus(0x10, 0, 0xB0), commit(0x11, 0, 0xB0), consensus(0x12, 0, 0xB1), commit(0x13, 0, 0xB1)
    )
    assert (found.epoch, set(found.forks[0])) == (1, {b32(0xB0), b32(0xB1)})


def test_the_checkpoint_in_force_is_the_last_of_the_epochs_so_far():
    facts = [
        checkpoint(0x10, 0, 7, 1),
        checkpoint(0x11, 0, 7, 2),
        checkpoint(0x12, 1, 3),
        checkpoint(0x13, 2, 1),
    ]
    found = channel(*facts)
    assert (found.last, found.checkpoint.content["ck_commitment"], found.is_checkpoint_disputed) == (
        7,
        b32(2),
        True,
    )
    found = channel(*facts, consensus(0x14, 0, 0xB0), commit(0x15, 0, 0xB0))
    assert (found.epoch, found.last, found.is_checkpoint_disputed) == (1, 3, False)


def test_a_checkpoint_at_the_greatest_generation_and_a_window_of_0():
    found = channel(checkpoint(0x10, 0, MOST, override=0), proposal(0x11, 0, 0xB0, "Routine"))
    assert (found.last, found.window, found.window_source) == (MOST, 0, "checkpoint")
    assert found.pending.bump_id == b32(0xB0)
    found = channel(checkpoint(0x10, MOST, MOST), proposal(0x11, 0, 0xB0, "Routine"))
    assert (found.last, found.checkpoint, found.pending) == (0, None, None)
    found = channel(
        checkpoint(0x10, 0, MOST, override=2**32 - 1), checkpoint(0x12, 0, MOST - 2**31 + 1),
        proposal(0x11, 0, 0xB0, "Routine"),
    )  # fmt: skip
    assert found.pending.new_epoch == 1


def test_a_routine_bump_waits_until_checkpoints_are_half_a_window_apart():
    bump = proposal(0x10, 0, 0xB0, "Routine")
    assert channel(bump, policy(0x11, 9), checkpoint(0x12, 0, 5), checkpoint(0x13, 0, 8)).pending is None
    assert channel(bump, policy(0x11, 9), checkpoint(0x12, 0, 5), checkpoint(0x13, 0, 9)).pending is not None
    assert channel(bump, policy(0x11, 9), checkpoint(0x12, 0, 5), checkpoint(0x13, 1, 900)).pending is None
    assert channel(bump, policy(0x11, 1)).pending is not None


def test_of_policies_the_least_window_counts():
    assert channel(policy(0x10, None)).window == 1024
    assert channel(policy(0x10, None)).window_source == "default"
    assert channel(policy(0x10, 9), policy(0x11, None), policy(0x12, 3)).window == 3


def test_the_gravest_reason_is_pending_then_the_least_bump():
    bumps = [
        proposal(0x10, 0, 0xA0, "SuspiciousActivity"), proposal(0x11, 0, 0xB2, "ConfirmedCompromise"),
        proposal(0x12, 0, 0xB1, "ConfirmedCompromise"), proposal(0x13, 1, 0x01, "ConfirmedCompromise"),
        proposal(0x14, 0, 0x02, "Routine"), proposal(0x15, 0, 0x03, "ConfirmedCompromise", by=["u*"]),
    ]  # fmt: skip
    found = channel(*bumps)
    assert (found.pending.bump_id, found.pending.reason) == (b32(0xB1), "ConfirmedCompromise")


def test_a_charge_counts_once_however_often_it_comes_and_again_when_signed_anew():
    body = charge(0x10, 7)
    assert flow(body, body, reattested(body, "uv"), reattested(body, ["u*"])).spent == 7
    assert flow(body, charge(0x11, 7)).spent == 14
    assert reduced([G, charge(0x10, 7, by="v")]).flows == ()


def test_two_replicas_that_charge_at_once_overdraw_a_budget_together():
    facts = [charge(0x10, 8), charge(0x11, 8), limit(0x12, 10)]
    assert not flow(facts[0], facts[2]).is_overdrawn
    found = flow(*facts)
    assert (found.spent, found.is_overdrawn, found.is_unbroken, headroom(found, None)) == (16, True, False, 0)


def test_charges_are_unbroken_by_their_number_alone_so_a_gap_and_a_fork_cancel_out():
    first, second = charge(0x10, 1), charge(0x11, 1, nonce=1)
    assert flow(first, second).is_unbroken
    assert not flow(first, charge(0x12, 1, nonce=2)).is_unbroken
    assert not flow(first, charge(0x13, 1), second).is_unbroken
    assert flow(first, charge(0x13, 1), charge(0x12, 1, nonce=2)).is_unbroken


def test_limits_meet_and_need_one_of_the_two_parties():
    assert flow(limit(0x10, 9), limit(0x11, 7, by="u"), limit(0x12, 8)).limit == 7
    assert flow(limit(0x10, 9), limit(0x11, 7, by=["u*"])).limit == 7
    assert flow(limit(0x10, 9)).is_unbroken
    assert flow(limit(0x10, 0)).charges == 0


def test_a_sum_stays_at_the_greatest_number():
    many = [charge(0x10 + each, 2**32 - 1, each) for each in range(3)]
    assert flow(*many).spent == 3 * (2**32 - 1)
    full = reduce_context(
        NAMESPACE, [G, *many], chains(), [Flow(FlowKey(U.id, V_ID, 1), MOST - 5, 1, (0, b""))]
    )
    [found] = full.flows
    assert (found.spent, found.charges) == (MOST, 4)


def test_a_charge_of_an_old_epoch_counts_in_its_epoch():
    late = author.attest(charge(0x10, 3, by="", epoch=0), U.id, states()["P"].commitment, K1)
    found = reduced([G, charge(0x11, 4), late])
    assert found.flow_budgets == {(U.id, V_ID, 0): 3, (U.id, V_ID, 1): 4}


def test_a_key_that_was_rotated_out_still_attests_at_its_state():
    content = {"binding_type": "note", "binding_data": b"old"}
    plain = of_context("Generic", 0x10, "", **content)
    by_old_key = author.attest(plain, U.id, states()["P"].commitment, K1)
    assert [each.data for each in reduced([G, by_old_key]).bindings] == [b"old"]
    assert reduced([G, by_old_key], is_lost=True).bindings == ()
    at_tip = author.attest(plain, U.id, states()["Kp"].commitment, K2)
    assert reduced([G, by_old_key, at_tip]).state_hash == reduced([G, at_tip]).state_hash


def test_a_member_cannot_empty_the_capability_of_another():
    assert reduced([G, refinement(0x10, "u", actions=[])]).capabilities == ()
    [found] = reduced(
        [G, refinement(0x10, "v", actions=["a"]), refinement(0x11, "uv", actions=["a", "b"])]
    ).capabilities
    assert (found.subject, found.cap.actions, found.refinements) == (V_ID, {"a"}, 2)


def test_the_effective_limit_is_the_least_that_anybody_gave():
    budget = Flow(FlowKey(U.id, V_ID, 3), 5, 1, (0, b""), 100)
    named = f"flow:{'061aaea1-e583-0684-dd97-2e75f5a98f4a'}"
    for cap, expected in (
        (None, 100),
        (TOP, 100),
        (Cap(limits={"flow": 50, "other": 1}), 50),
        (Cap(limits={"flow": 50, named: 40}), 40),
        (Cap(actions=frozenset()), 0),
        (Cap(epoch_min=4), 0),
        (Cap(epoch_max=2), 0),
        (Cap(epoch_min=3, epoch_max=3), 100),
        (Cap(epoch_min=4, epoch_max=3), 0),
    ):
        assert effective_limit(budget, cap) == expected
        assert headroom(budget, cap) == max(0, expected - 5)
    assert effective_limit(Flow(FlowKey(U.id, V_ID, 3)), None) == 1024


def test_a_meet_has_the_narrowest_epochs_and_the_least_limits():
    a = Cap(frozenset("ab"), {"x": 3, "y": 1}, 2, 9)
    assert meet(a, Cap(frozenset("bc"), {"x": 2, "z": 7}, 3, 8)) == Cap(
        frozenset("b"), {"x": 2, "y": 1, "z": 7}, 3, 8
    )
    assert meet(a, Cap(epoch_min=1, epoch_max=10)) == a


def test_many_refinements_meet_at_once_without_a_capability_for_each(monkeypatch):
    caps = [Cap(limits={f"name {number}": number}) for number in range(100)]
    counted = Counted(Cap)
    monkeypatch.setattr(capabilities, "Cap", counted)
    assert capabilities.meet_all(caps).limits == {f"name {number}": number for number in range(100)}
    assert counted.calls == 1


names = st.sampled_from(["a", "b", "flow"])
small = st.sampled_from([0, 1, 2, MOST])
caps = st.builds(
    Cap, st.none() | st.frozensets(names), st.dictionaries(names, small), st.none() | small, st.none() | small
)


@given(caps, caps, caps)
@law(100)
def test_capabilities_meet_as_a_semilattice(a, b, c):
    assert meet(a, b) == meet(b, a)
    assert meet(meet(a, b), c) == meet(a, meet(b, c))
    assert meet(a, a) == a == meet(a, TOP)
    assert not is_bottom(TOP)
    if is_bottom(a):
        assert is_bottom(meet(a, b))
    if a.actions is not None and b.actions is not None:
        assert meet(a, b).actions <= a.actions

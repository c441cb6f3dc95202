"""AMP transitions: the cases of a parent, where the epochs go, and that one forged fact stops nothing."""

import itertools

import pytest

from strandline.dialects.aura.codec import encode, parse_fact_cbor, read_documents, stored_fact, to_json
from strandline.dialects.aura.info import reads_transitions
from strandline.dialects.aura.reduce.contexts.transitions import Parent, transition_id
from strandline.dialects.aura.types import FactDocument, Unreadable
from strandline.dialects.aura.verify import rule_findings
from support.aura_cases import b32, facts, second_context
from support.context_cases import reduced
from support.transition_cases import (
    abort,
    agreed,
    alarm,
    certified,
    conflict,
    finalized,
    identity,
    proposed,
    supersession,
)
from unit.aura.test_contexts import commit, consensus, proposal

G = second_context()["g"]
ONE, OTHER = identity(0x51), identity(0x52)
P1, P2 = proposed(0x11, ONE), proposed(0x12, OTHER)
C1, C2 = certified(0x13, ONE), certified(0x14, OTHER)
F1, F1_AGAIN = [agreed(0x15, ONE), finalized(0x16, ONE)], [finalized(0x17, ONE)]
F2 = [agreed(0x1E, OTHER), finalized(0x1F, OTHER)]
L1, L2, A1 = alarm(0x18, ONE), alarm(0x19, OTHER), abort(0x1A, ONE)
X12, S12 = conflict(0x1B, ONE, OTHER), supersession(0x1C, ONE, OTHER)
C1_AGAIN = certified(0x1D, ONE)

CASES = {
    "P1": ([P1], "Observed"),
    "P1 C1": ([P1, C1], "A2Live"),
    "C1 C1": ([C1, C1_AGAIN], "A2Live"),
    "L1 L2 C1": ([L1, L2, C1], "A2Live"),
    "C1 C2": ([C1, C2], "A2Conflict"),
    "C1 C2 X12": ([C1, C2, X12], "A2Conflict"),
    "C1 X12": ([C1, X12], "A2Conflict"),
    "P1 A1": ([P1, A1], "Aborted"),
    "C1 A1": ([C1, A1], "Aborted"),
    "P1 P2 S12": ([P1, P2, S12], "Superseded"),
    "C1 C2 S12": ([C1, C2, S12], "A2Live"),
    "C1 S12 A1": ([C1, S12, A1], "Superseded"),
    "C1 F1 F1": ([C1, *F1, *F1_AGAIN], "A3Finalized"),
    "C1 F1 X12": ([C1, *F1, X12], "A3Finalized"),
    "F1 alone": (F1, "A3Finalized"),
    "F1 without consensus": ([F1[1]], "Observed"),
    "F1 F2": ([*F1, *F2], "A3Conflict"),
    "C2 F1": ([C2, *F1], "A3Conflict"),
    "F1 A1": ([*F1, A1], "Aborted"),
    "F1 A1 of live ones only": ([*F1, abort(0x20, ONE, scope="A2LiveOnly")], "A3Finalized"),
    "F1 F2 S12": ([*F1, *F2, S12], "A3Finalized"),
    "C1 by one": ([certified(0x21, ONE, by="u")], "Observed"),
    "C1 A1 by one": ([C1, abort(0x22, ONE, by="u")], "A2Live"),
    "C1 X12 by one": ([C1, conflict(0x23, ONE, OTHER, by="v")], "A2Live"),
    "C1 S12 by one": ([C1, supersession(0x24, ONE, OTHER, by="v")], "A2Live"),
}  # fmt: skip


def channel(*given):
    [found] = reduced([G, *given]).channels
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_cases_of_one_parent_in_any_order(name):
    given, expected = CASES[name]
    for order in itertools.islice(itertools.permutations(given), 24):
        assert channel(*order).transitions[Parent(0, b32(0x40))].status == expected


def test_the_id_of_the_vector():
    members = {
        "transition_policy": "NormalTransition", "membership_commitment": b32(6), "successor_commitment": b32(5),
        "successor_epoch": 4, "parent_commitment": b32(4), "parent_epoch": 3, "channel": b32(2),
        "context": b"\x01" * 16,
    }  # fmt: skip
    assert transition_id(members).hex() == "91413db5584a6564d0bab2e1413eb002d0a4aa3648566452e262b4815e6884d5"


def test_the_epoch_moves_over_finalized_transitions_that_follow_one_another():
    second = identity(0x53, epoch=1, commitment=0x51)
    stray = identity(0x54, epoch=1, commitment=0x99)
    later = [agreed(0x31, second), finalized(0x32, second)]
    lost = [agreed(0x33, stray), finalized(0x34, stray)]
    assert [channel(*given).epoch for given in (F1, [*F1, *later], [*F1, *lost], [*F1, *later, *lost], later)] == [
        1, 2, 1, 2, 0
    ]  # fmt: skip
    assert [channel(*given).epoch for given in ([*F1, *F2], [C2, *F1])] == [0, 0]


def test_a_bump_leads_on_where_nothing_finalized_does_and_any_commitment_follows_it():
    bump = [consensus(0x41, 0, 0xB0), commit(0x42, 0, 0xB0)]
    after = identity(0x55, epoch=1, commitment=0x77)
    finalized_after = [agreed(0x43, after), finalized(0x44, after)]
    assert channel(*bump, *finalized_after).epoch == 2
    assert channel(*bump, *F1, *finalized_after).epoch == 1
    rival = identity(0x56, epoch=1, commitment=0x78)
    assert channel(*bump, *finalized_after, agreed(0x45, rival), finalized(0x46, rival)).epoch == 1


def test_only_a_live_transition_from_where_the_channel_stands_is_pending():
    grave = proposed(0x61, ONE, reason="ConfirmedCompromise")
    assert channel(P1, grave).pending is None
    found = channel(P1, grave, C1).pending
    assert (found.new_epoch, found.bump_id, found.reason) == (1, transition_id(ONE), "ConfirmedCompromise")
    assert channel(C1).pending.reason == "Routine"
    assert channel(C1, C2).pending is None
    follows, strays = identity(0x57, epoch=1, commitment=0x51), identity(0x58, epoch=1, commitment=0x99)
    assert channel(*F1, certified(0x62, follows)).pending.bump_id == transition_id(follows)
    assert channel(*F1, certified(0x63, strays)).pending is None
    # A proposed bump waits as ever where no transition is live.
    urgent = proposal(0x64, 0, 0xB1, "SuspiciousActivity")
    assert channel(urgent, C1).pending.bump_id == transition_id(ONE)
    assert channel(urgent, P1).pending.bump_id == b32(0xB1)


def test_variants_are_unknown_until_a_lake_asks_for_them():
    for fact in (P1, C1, F1[1], A1, X12, L1, S12):
        assert stored_fact(fact.cbor).fact_id == fact.fact_id == encode(fact.value).fact_id
        assert rule_findings(fact) == []
        line = to_json(fact).encode()
        journal = b'{"namespace":"%s","facts":[%s]}' % (fact.namespace.text.encode(), line)
        for data, form in (
            (line + b"\n", "lines"),
            (fact.cbor, "cbor"),
            (journal, "json"),
            (journal, "lines"),
        ):
            [refused] = read_documents(data, form)
            assert isinstance(refused, Unreadable)
            assert refused.reasons == ("VARIANT_UNKNOWN",)
            assert fact.variant in str(refused.evidence)
            [read] = read_documents(data, form, transitions=True)
            assert isinstance(read, FactDocument)
            assert read.fact.fact_id == fact.fact_id
    for other in facts().values():
        assert parse_fact_cbor(other.cbor) == other


def test_rules_of_transitions():
    far, foreign = identity(0x59, successor_epoch=2), identity(0x5A, context=b"\x09" * 16)
    assert [each.reason for each in rule_findings(certified(0x65, far))] == ["EPOCH_NOT_SUCCESSOR"]
    assert [each.reason for each in rule_findings(certified(0x67, foreign))] == ["CONTEXT_MISMATCH"]
    assert [each.reason for each in rule_findings(abort(0x68, foreign))] == ["CONTEXT_MISMATCH"]
    assert [each.reason for each in rule_findings(certified(0x69, ONE, by=""))] == ["ATTEST_MISSING"]


def test_the_option_of_the_lake_decides():
    assert reads_transitions({"amp-transitions": "on"})
    assert not reads_transitions({"amp-transitions": "off"})
    assert not reads_transitions({})


@pytest.mark.parametrize("made", [proposed, certified, finalized])
@pytest.mark.parametrize("successor", [0, 2])
def test_every_step_of_a_transition_leads_to_the_next_epoch(made, successor):
    far = identity(0x59, successor_epoch=successor)
    assert [each.reason for each in rule_findings(made(0x65, far))] == ["EPOCH_NOT_SUCCESSOR"]

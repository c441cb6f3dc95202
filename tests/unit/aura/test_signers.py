"""What a signer returns is verified before a fact is written: anything else than an attestation is refused."""

import pytest

from strandline.dialects.aura import author
from strandline.dialects.aura.types import Namespace
from strandline.effects.budgets import DeltaBudget
from strandline.effects.errors import AttestationRefused, PartySelf, StaleState
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from support.aura_cases import K2, V_ID, U, at, second_context, states

GENESIS = second_context()["g"]
CONTEXT = GENESIS.namespace
CHARGE = author.relational(
    CONTEXT, "FlowCharge",
    {"context": CONTEXT.id, "src": U.id, "dst": V_ID, "epoch": 1, "cost": 1, "nonce": 0, "prev": bytes(32)},
    **at(0x70),
)  # fmt: skip


class Tables:
    """Tables that nobody reads here."""

    buckets = 16


def signed(change, charge=CHARGE):
    """A charge by u, signed at its tip by a signer whose attestation is changed."""

    def signer(body_id):
        assert body_id == charge.body_id
        return change(attestation(charge))

    budget = DeltaBudget(Tables(), CONTEXT, U, Namespace("authority", V_ID), signer, SparkJobs(NoProgress()))
    budget._state, budget._members = states()["Kp"], frozenset(GENESIS.content["members"])
    return budget.signed(charge)


def attestation(charge):
    [entry] = author.attest(charge, U.id, states()["Kp"].commitment, K2).value["attest"]
    return entry


def without(name):
    return lambda entry: {key: value for key, value in entry.items() if key != name}


def test_a_good_attestation_is_taken():
    fact = signed(lambda entry: entry)
    assert (fact.body_id, fact.attest[0].authority) == (CHARGE.body_id, U.id)


REFUSED = {
    "another signature": (lambda entry: entry | {"sig": bytes(64)}, "ATTEST_SIGNATURE_INVALID"),
    "a short signature": (lambda entry: entry | {"sig": bytes(63)}, "LENGTH_INVALID"),
    "a signature as text": (lambda entry: entry | {"sig": "00" * 64}, "TYPE_INVALID"),
    "a member too many": (lambda entry: entry | {"key": b""}, "FIELD_UNKNOWN"),
    "no signature": (without("sig"), "FIELD_MISSING"),
    "no state": (without("commitment"), "FIELD_MISSING"),
    "no authority": (without("authority"), "FIELD_MISSING"),
    "another member": (lambda entry: entry | {"authority": V_ID}, "AUTHORITY_STATE_MISSING"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_attestation_is_refused(name):
    change, reason = REFUSED[name]
    with pytest.raises(AttestationRefused) as refused:
        signed(change)
    assert refused.value.code == "ATTESTATION_REFUSED"
    assert reason in refused.value.message


def test_another_state_than_the_tip_is_stale():
    with pytest.raises(StaleState):
        signed(lambda entry: entry | {"commitment": states()["Rp"].commitment})


def test_a_fact_that_breaks_a_rule_by_itself_is_refused_whoever_attests_it():
    charge = author.relational(CONTEXT, "FlowCharge", CHARGE.content | {"dst": U.id}, **at(0x71))
    with pytest.raises(AttestationRefused, match="PARTY_SELF"):
        signed(lambda entry: entry, charge)


def test_an_authority_has_no_budget_to_itself():
    def signer(_):
        raise AssertionError("nobody is asked to sign")

    with pytest.raises(PartySelf, match="nothing was written") as refused:
        DeltaBudget(Tables(), CONTEXT, U, U, signer, SparkJobs(NoProgress())).read()
    assert refused.value.code == "PARTY_SELF"

"""The journal effects over a lake: budgets that several writers charge, journals that are merged and written."""

import shutil
import threading
from dataclasses import replace

import pytest

from strandline.core.errors import NamespaceMismatch, UsageError
from strandline.dialects.aura import author
from strandline.dialects.aura.author.charges import BudgetExceeded, FlowBudget, charge_slot
from strandline.dialects.aura.reduce import Journal
from strandline.dialects.aura.reduce.contexts import FlowKey
from strandline.dialects.aura.types import Namespace
from strandline.dialects.aura.verify import EMPTY
from strandline.effects import JournalEffects
from strandline.effects.known import named_states, own_history
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from support.aura_cases import K2, K3, V_ID, U, after, b32, facts, other_authority, states
from support.context_cases import of_context
from support.costs import kept_frames
from support.kills import KilledError, killed_at
from support.lakes import Lake

V = other_authority().namespace
V0 = after(EMPTY, other_authority()).commitment
GENESIS = author.context_genesis([U.id, V_ID], b"\x09" * 16)
CONTEXT = GENESIS.namespace
LIMIT = of_context("FlowLimit", 0x20, "v", namespace=CONTEXT, src=V_ID, dst=U.id, epoch=0, limit=15)


def attests(body_id, key=K3, commitment=V0):
    """The attestation of v."""
    return {"authority": V_ID, "commitment": commitment, "sig": key.sign(message(body_id, commitment))}


def message(body_id, commitment):
    from strandline.dialects.aura.codec import attest_message

    return attest_message(body_id, V_ID, commitment, K3.public)


def effects(lake, namespace=CONTEXT, authority=V, signer=attests, *, spark=None, faults=None):
    made = JournalEffects(spark or lake.spark, str(lake.path), namespace, authority, signer)
    if faults is not None:
        made._context = replace(made._context, faults=faults)
    return made


@pytest.fixture(scope="module")
def made(spark, settings, empty_lakes, tmp_path_factory):
    """The folder of a lake with v, and the context of u and v in which v may spend 15 on messages to u."""
    folder = tmp_path_factory.mktemp("effects") / "lake"
    shutil.copytree(empty_lakes[False], folder)
    lake = Lake(spark, settings, folder, dialect="aura")
    effects(lake, V).persist_journal(Journal(V, [other_authority()]))
    report = effects(lake).persist_journal(Journal(CONTEXT, [GENESIS, LIMIT]))
    assert (report.command, report.counts["new"]) == ("effects", 2)
    # The bytes are in Spark: a task on another machine could not open a path of the driver.
    assert {*lake.rows("aura_fact", "source")} == {("persist_journal",)}
    return folder


@pytest.fixture
def lake(new_lake, made):
    return new_lake(dialect="aura", like=made)


def test_budgets_are_charged_joined_and_refused(lake):
    ours = effects(lake)
    assert ours.get_flow_budget(CONTEXT, U) == FlowBudget(15, 0, 0)
    assert ours.charge_flow_budget(CONTEXT, U, 7, request_id=b"once") == FlowBudget(15, 7, 0)
    before = lake.versions()
    assert ours.charge_flow_budget(CONTEXT, U, 7, request_id=b"once") == FlowBudget(15, 7, 0)

    def refused(code, *given, **more):
        with pytest.raises(UsageError) as error:
            effects(lake, **more).charge_flow_budget(*given)
        assert error.value.code == code
        assert "nothing was written" in error.value.message

    refused("BUDGET_EXCEEDED", CONTEXT, U, 9)
    refused("STALE_STATE", CONTEXT, U, 1, signer=lambda body: attests(body, commitment=bytes(32)))
    refused("ATTESTATION_REFUSED", CONTEXT, U, 1, signer=lambda body: attests(body, K2))
    refused("NO_SIGNER", CONTEXT, U, 1, signer=None)
    refused("NOT_A_MEMBER", CONTEXT, Namespace("authority", bytes(16)), 1)
    refused("PARTY_SELF", CONTEXT, V, 1)
    refused("UNKNOWN_CONTEXT", Namespace("context", bytes(16)), U, 1)
    refused("AUTHORITY_UNKNOWN", CONTEXT, V, 1, authority=U)
    for wanted, code in (((15, 6, 0), "SPENT_DECREASE"), ((15, 7, 1), "UNKNOWN_EPOCH")):
        with pytest.raises(UsageError) as error:
            ours.update_flow_budget(CONTEXT, U, FlowBudget(*wanted))
        assert error.value.code == code
    with pytest.raises(ValueError, match="4294967296"):
        ours.charge_flow_budget(CONTEXT, U, 2**32)
    with pytest.raises(ValueError, match="1000 charges"):
        ours.update_flow_budget(CONTEXT, U, FlowBudget(15, 2**44, 0))
    assert lake.versions() == before
    assert ours.update_flow_budget(CONTEXT, U, FlowBudget(12, 10, 0)) == FlowBudget(12, 10, 0)
    assert lake.versions()["aura_fact"] == before["aura_fact"] + 1
    # A charge after an update passes by the slot that its limit took.
    assert ours.charge_flow_budget(CONTEXT, U, 2) == FlowBudget(12, 12, 0)
    assert lake.rows("run", "command").count(("effects",)) == 5
    lake.reduce()
    assert lake.rows("flow_budget", "spent", "charges", "limit", "unbroken") == [(12, 3, 12, True)]


def test_a_charge_passes_by_the_slot_that_a_copy_of_a_pruned_charge_holds(lake):
    ours, key = effects(lake), FlowKey(V_ID, U.id, 0)
    effects(lake, U).persist_journal(Journal(U, facts().values()))
    members = {"context": CONTEXT.id, "src": V_ID, "dst": U.id, "epoch": 0, "cost": 2}
    tip = of_context("FlowCharge", 0x23, "v", namespace=CONTEXT, **members, nonce=5, prev=b"\1" * 32)
    slots = [charge_slot(CONTEXT, key, 6, tip.body_id, attempt) for attempt in (0, 1)]
    early = author.relational(
        CONTEXT, "FlowCharge", members | {"nonce": 0, "prev": bytes(32)}, order=slots[0],
        timestamp={"OrderClock": slots[0]},
    )  # fmt: skip
    by_v = author.attest(early, V_ID, V0, K3)
    assert ours.persist_journal(Journal(CONTEXT, [by_v, tip])).counts["new"] == 2
    lake.reduce()
    assert lake.gc(skip_window=0).counts["pruned"] == 1
    copy = author.attest(by_v, U.id, states()["Kp"].commitment, K2)
    assert ours.persist_journal(Journal(CONTEXT, [copy])).counts["new"] == 1
    before = kept_frames(lake.spark)
    assert ours.charge_flow_budget(CONTEXT, U, 3) == FlowBudget(15, 7, 0)
    assert ours.get_flow_budget(CONTEXT, U) == FlowBudget(15, 7, 0)
    # A service charges for months through one session: no call leaves a frame there.
    assert kept_frames(lake.spark) == before
    assert {*slots} <= {order for [order] in lake.rows("aura_fact", "order_token")}


def test_journals_are_read_merged_refined_and_written(lake):
    ours = effects(lake)
    refinement = of_context(
        "Capability", 0x21, "v", namespace=CONTEXT, subject=V_ID, actions=["send"], limits={}, epoch_min=None,
        epoch_max=None,
    )  # fmt: skip
    target, delta = ours.get_journal(), Journal(CONTEXT, [refinement])
    assert (target.journal.facts, target.caps) == (tuple(sorted((GENESIS, LIMIT), key=lambda f: f.order)), {})
    merged = ours.merge_facts(Journal(CONTEXT), delta)
    assert set(merged.journal.facts) == {refinement}
    # Of authorities only the states are read that a fact names.
    store = ours._store(ours._context)
    with SparkJobs(NoProgress()) as jobs:
        found = named_states(store, store.version("aura_fact"), delta.facts, jobs)
        assert set(found) == {(V_ID, V0)}
        assert named_states(store, store.version("aura_fact"), [GENESIS], jobs) == {}
    assert own_history(store, store.version("aura_fact"), delta) == [GENESIS]
    unknown = of_context("Generic", 0x22, "u", namespace=CONTEXT, binding_type="note", binding_data=b"")
    assert set(ours.merge_facts(target.journal, Journal(CONTEXT, [unknown])).deferred) == {unknown.fact_id}
    refined = ours.refine_caps(target.journal, delta)
    assert len(refined) == 3
    assert ours.persist_journal(refined).counts["new"] == 1
    found = ours.get_journal()
    assert (found.journal, found.caps[V_ID].actions) == (refined, frozenset(["send"]))
    assert found.version > target.version
    assert ours.persist_journal(refined).counts["new"] == 0
    assert ours.persist_journal(Journal(CONTEXT)).counts["read"] == 0
    with pytest.raises(NamespaceMismatch):
        ours.persist_journal(Journal(U, facts().values()))
    assert effects(lake, V).get_journal().journal.facts == (other_authority(),)


@pytest.mark.slow
def test_writers_at_once_never_pass_the_limit_and_their_charges_are_what_is_spent(lake, spark):
    outcomes = []

    def charge(number):
        ours = effects(lake, spark=spark.newSession())
        for each in range(2):
            try:
                ours.charge_flow_budget(CONTEXT, U, 3, request_id=b"%d %d" % (number, each))
                outcomes.append("charged")
            except BudgetExceeded:
                outcomes.append("refused")

    def repeat(_):
        effects(lake, spark=spark.newSession()).charge_flow_budget(CONTEXT, U, 0, request_id=b"at once")

    for work, writers in ((charge, 3), (repeat, 2)):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(writers)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert sorted(outcomes) == ["charged"] * 5 + ["refused"]
    assert effects(lake).get_flow_budget(CONTEXT, U) == FlowBudget(15, 15, 0)
    lake.reduce()
    assert lake.rows("flow_budget", "spent", "charges", "limit", "unbroken") == [(15, 6, 15, True)]


@pytest.mark.slow
def test_a_charge_that_is_killed_at_a_step_and_repeated_is_there_once(lake):
    for point in ("read", "prepared", "committed"):
        with pytest.raises(KilledError):
            effects(lake, faults=killed_at(f"effects.{point}")).charge_flow_budget(
                CONTEXT, U, 4, request_id=b"killed"
            )
        spent = 4 if point == "committed" else 0
        assert effects(lake).get_flow_budget(CONTEXT, U) == FlowBudget(15, spent, 0)
    assert effects(lake).charge_flow_budget(CONTEXT, U, 4, request_id=b"killed") == FlowBudget(15, 4, 0)
    assert b32(0x20) in {order for [order] in lake.rows("aura_fact", "order_token")}

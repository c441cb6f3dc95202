"""Collections of authorities: what goes is what the plain plan says, no answer changes, late facts are judged alike."""

import pytest
from pyspark.sql import functions as F

from strandline.dialects.aura import author
from strandline.dialects.aura.reduce import Journal
from strandline.dialects.aura.spark.authority_pruning import PlannedAuthorities
from strandline.dialects.aura.types import RotateEpoch
from strandline.effects import JournalEffects
from strandline.effects.known import current_state
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from support import pruned_contexts as contexts
from support.aura_corpus import line
from support.collected import assert_listed, carries, outcomes
from support.lakes import counted, write_files
from support.pruned_authorities import Context, Source, differing, held, lake_tables, tables

COUNT = 64
FREE = (4, 5, 11, 17, 25, 27, 34, 35, 37, 38)
"""Authorities of which something can go in the first round; of 5 nothing can."""
COUNTS = ("prunable", "pruned", "refused", "finished")
HEALTH = "SELECT met, unmet, unjudged, rotated_out FROM context_health"


def ingest(lake, folder, facts):
    content = b"".join(line(fact) + b"\n" for fact in facts)
    return lake.ingest(write_files(folder, {"facts.jsonl": content}))


def collected(report):
    """What a report says of each namespace."""
    rows = report.members["collections"]
    return {row["namespace"]: (row["pruned"], row["holds"]) for row in rows}


@pytest.mark.parametrize("rounds", [1, pytest.param(2, marks=pytest.mark.slow)], ids="{} rounds".format)
def test_random_authorities_are_collected_round_by_round_as_the_plain_plan_says(new_lake, tmp_path, rounds):
    lake, sources = new_lake("authorities", dialect="aura"), [Source(seed) for seed in range(COUNT)]
    expected_carries, total, context = {}, 0, Context(sources[1:5])
    for number in range(rounds):
        facts = [fact for source in sources for fact in source.deliver(number)]
        ingest(lake, tmp_path / f"{number}", facts)
        assert_judged_alike(lake, sources, context)
        context.deliver(lake)
        lake.reduce()
        before = lake_tables(lake)
        assert differing(before, tables(sources)) == {}
        plans = {source.namespace.text: source.plan() for source in sources}
        gone = {(name, each.record_id): each for name, plan in plans.items() for each in plan.prune}
        of_context, [health] = contexts.lake_tables(lake), lake.asked(HEALTH)
        assert of_context == context.reference.tables()
        stored = lake.versions()["aura_fact"]
        done = lake.gc(excluded=(context.namespace,))
        assert counted(done, COUNTS) == dict.fromkeys(COUNTS, 0) | {
            "prunable": len(gone),
            "pruned": len(gone),
        }
        assert collected(done) == {
            name: (len(plan.prune), plan.holds) for name, plan in plans.items() if plan.prune
        }
        assert_listed(lake, gone)
        assert_hashes_stated(lake)
        expected_carries |= {name: plan.carry for name, plan in plans.items() if plan.prune}
        assert carries(lake) == expected_carries
        for source in sources:
            proof, count = source.lake.collect(0, source.others.values())
            assert proof.equal
            total += count
        after = lake_tables(lake)
        assert differing(after, tables(sources)) == {}
        assert {table for table in after if after[table] != before[table]} == {"attested_op"}
        assert contexts.lake_tables(lake) == of_context
        assert_merged(lake, next(source for source in sources if source.has_base and source.lake.skeletons))
        assert_health(health, *lake.asked(HEALTH))
        assert_current(lake, [source for source in sources if plans[source.namespace.text].prune])
    # As a kill leaves it behind the deletion of reduced rows: the records are there, and do not count.
    lake.damage(f"RESTORE TABLE delta.`{lake.path / 'aura_fact'}` TO VERSION AS OF {stored}")
    assert lake.reduce(full=True).members["differences"] == {}
    assert (lake_tables(lake), contexts.lake_tables(lake)) == (after, of_context)
    assert total > COUNT // 2
    again = lake.gc(excluded=(context.namespace,))
    assert counted(again, COUNTS) == dict.fromkeys(COUNTS, 0) | {"finished": len(gone)}
    assert set(lake.rows("aura_fact", "namespace", "record_id")) == held(sources) | context.held
    assert_reduced_when_back(lake, tmp_path / "lost", sources, context, rounds)


def assert_reduced_when_back(lake, folder, sources, context, number):
    """What came before the snapshots were lost is reduced when these are back, with what was attested by it."""
    ingest(lake, folder, [fact for source in sources for fact in source.deliver(number)])
    context.deliver(lake)
    before = lake_tables(lake)
    pruned = sorted(source.namespace.text for source in sources if source.lake.skeletons)
    others = [source for source in sources if source.namespace.text not in pruned]
    lake.damage("UPDATE snapshot SET carry = concat(carry, X'00') WHERE carry <> X''")
    # Others change in this run: their states tell that it has read the new operations.
    lost = lake.reduce()
    assert (lost.exit, lost.error.code, lost.members["refused"]) == (3, "SNAPSHOT_LOST", pruned)
    found = {table: apart(rows, pruned) for table, rows in lake_tables(lake).items()}
    assert differing({table: rest for table, (_, rest) in found.items()}, tables(others)) == {}
    assert {table: theirs for table, (theirs, _) in found.items()} == {
        table: apart(rows, pruned)[0] for table, rows in before.items()
    }
    assert lake.reduce().members["refused"] == pruned
    lake.damage("UPDATE snapshot SET carry = substring(carry, 1, length(carry) - 1) WHERE carry <> X''")
    back = lake.reduce()
    assert (back.exit, back.counts["new_records"], back.members["refused"]) == (0, 0, [])
    assert differing(lake_tables(lake), tables(sources)) == {}
    assert contexts.lake_tables(lake) == context.reference.tables()
    assert lake.reduce(full=True).members["differences"] == {}


def test_a_context_counts_what_members_attest_that_had_no_row_when_they_were_refused(new_lake, tmp_path):
    lake, sources = new_lake("authorities", dialect="aura"), [Source(seed) for seed in FREE[::2][:3]]
    context, names = Context(sources), sorted(source.namespace.text for source in sources)
    ingest(lake, tmp_path / "first", [fact for source in sources for fact in source.deliver(0)])
    context.deliver(lake)
    lake.reduce()
    assert set(collected(lake.gc(excluded=(context.namespace,)))) == set(names)
    for source in sources:
        source.lake.collect(0, source.others.values())
    ingest(lake, tmp_path / "second", [fact for source in sources for fact in source.deliver(1)])
    context.deliver(lake)
    lake.damage("UPDATE snapshot SET carry = concat(carry, X'00') WHERE carry <> X''")
    for table in ("authority_state", "attested_op"):
        lake.damage(f"DELETE FROM {table}")
    assert lake.reduce().members["refused"] == names
    assert contexts.lake_tables(lake) != context.reference.tables()
    lake.damage("UPDATE snapshot SET carry = substring(carry, 1, length(carry) - 1) WHERE carry <> X''")
    assert lake.reduce().members["refused"] == []
    assert differing(lake_tables(lake), tables(sources)) == {}
    assert contexts.lake_tables(lake) == context.reference.tables()
    assert lake.reduce(full=True).members["differences"] == {}


def apart(rows, names):
    """The rows of these namespaces, and the others."""
    theirs = [row for row in rows if not set(names).isdisjoint(map(str, row[:2]))]
    return theirs, [row for row in rows if row not in theirs]


def assert_health(before, after):
    """Each body is judged as before, or counts as unjudged; no member is left out."""
    (met, unmet, unjudged, rotated_out), (met_then, unmet_then, *_) = after, before
    assert rotated_out == before[-1] != ()
    assert 0 < met <= met_then
    assert 0 < unmet <= unmet_then
    assert met + unmet + unjudged == sum(before[:3])


def assert_current(lake, sources):
    """What signs at the newest state of an authority finds that of its reduced row, beside skeletons, too."""
    version, stated = (
        lake.versions()["aura_fact"],
        dict(lake.rows("authority_state", "namespace", "commitment")),
    )
    with_base = [source.namespace for source in sources if source.has_base][:4]
    assert len(with_base) == 4
    with SparkJobs(NoProgress()) as jobs:
        for each in with_base:
            found = current_state(lake.store(), each, version, jobs)
            assert (each.text, found.commitment) == (each.text, stated[each.text])


def assert_merged(lake, source):
    """An operation on a state behind pruned ones is admitted beside the journal of the lake."""
    state, effects = source.reduced().state, JournalEffects(lake.spark, str(lake.path), source.namespace)
    fact = author.append(
        source.namespace, state, RotateEpoch((0,), None), signer=source.history.signer_at(state),
        order=bytes([8]) * 32, timestamp={"OrderClock": bytes([8]) * 32},
    )  # fmt: skip
    journal = effects.get_journal().journal
    assert set(effects.merge_facts(journal, Journal(source.namespace, [fact])).journal.facts) == {
        *journal.facts,
        fact,
    }


def assert_hashes_stated(lake):
    """What a plan reduces an authority to is what `reduce` did."""
    rows = lake.rows("snapshot", "namespace", "origin", "state_hash")
    stated = {(name, state_hash) for name, origin, state_hash in rows if origin == "local"}
    assert stated
    assert stated <= {*lake.rows("namespace_state", "namespace", "state_hash")}


def assert_judged_alike(lake, sources, context):
    """The accepted, waiting and rejected facts are those of the plain functions."""
    assert set(lake.rows("aura_fact", "namespace", "record_id")) == held(sources) | context.held
    rows = lake.rows("quarantine", "status", "record_id", "reasons")
    assert {id_ for status, id_, _ in rows if status != "rejected"} == {
        id_ for source in sources for id_ in source.waiting
    }
    assert {id_: tuple(reasons) for status, id_, reasons in rows if status == "rejected"} == {
        id_: reasons for source in sources for id_, reasons in source.rejected.items()
    }


@pytest.mark.slow
def test_what_is_damaged_or_wrong_is_told_and_costs_nothing(new_lake, tmp_path, monkeypatch):
    lake, sources = new_lake("damaged", dialect="aura"), [Source(seed) for seed in FREE]
    ingest(lake, tmp_path / "0", [fact for source in sources for fact in source.deliver(0)])
    lake.reduce()
    plans = {source.namespace.text: source.plan() for source in sources}
    before = lake_tables(lake)
    # A rule that carries no state: the proof finds it, everywhere.
    with monkeypatch.context() as patch:
        nothing = F.expr("X'A1617601'").alias("carry")
        patch.setattr(
            PlannedAuthorities, "carries", lambda planned, _: planned.found.select("namespace", nothing)
        )
        wrong = lake.gc()
    free = sorted(name for name, plan in plans.items() if plan.prune)
    assert (wrong.exit, wrong.counts["pruned"], len(free)) == (1, 0, 9)
    assert outcomes(wrong) == dict.fromkeys(free, ("REFUSED", "PROOF_FAILED", 0))
    assert lake.rows("pruned_record", "record_id") == []
    assert lake_tables(lake) == before
    # The snapshots that were taken then have that carry, too.
    assert outcomes(lake.gc()) == dict.fromkeys(free, ("REFUSED", "SNAPSHOT_DAMAGED", 0))
    lake.snapshot()
    done = lake.gc()
    assert outcomes(done) == {name: ("DONE", None, len(plans[name].prune)) for name in free}
    for source in sources:
        source.lake.collect(0, source.others.values())
    # Bytes of a carry, of the form of skeletons, and of the epoch in some.
    carry, form, epoch, *_ = free
    lake.damage(
        "UPDATE snapshot SET carry = concat(carry, X'00') WHERE namespace = '{}' AND carry <> X''", carry
    )
    skeletons(lake, form, "concat(X'87', substring(skeleton, 2, 1000))")
    skeletons(lake, epoch, f"concat({EPOCH.format('+ 1')})")
    torn = {carry, form, epoch}
    ingest(lake, tmp_path / "1", [fact for source in sources for fact in source.deliver(1)])
    reduced = lake.reduce()
    # Without a carry operations wait, so there is no news of that authority to reduce: `gc` names it, below.
    assert set(reduced.members["damaged"]["snapshot"]) == torn - {carry}
    assert sources[FREE.index(38)].namespace.text == carry
    assert {status for name, status in lake.rows("quarantine", "namespace", "status") if name == carry} == {
        "deferred"
    }
    after, expected = lake_tables(lake), tables(sources)
    for found in (after, expected):
        for table in found:
            found[table] = [row for row in found[table] if torn.isdisjoint(row)]
    assert differing(after, expected) == {}
    # Without a carry nothing is made, and what is stored stays.
    stays = [row for row in before["authority_state"] if row[0] == carry]
    assert [row for row in lake.rows("authority_state") if row[0] == carry] == stays
    again = lake.gc()
    assert again.exit == 1
    assert {name: told for name, told in outcomes(again).items() if name in torn} == dict.fromkeys(
        torn, ("REFUSED", "SNAPSHOT_DAMAGED", 0)
    )
    assert {name for name, told in outcomes(again).items() if told[0] == "REFUSED"} == torn
    assert again.counts["pruned"] > 0
    # What is put right again is whole.
    lake.damage(
        "UPDATE snapshot SET carry = substring(carry, 1, length(carry) - 1) WHERE namespace = '{}' AND carry <> X''",
        carry,
    )
    skeletons(lake, form, "concat(X'88', substring(skeleton, 2, 1000))")
    skeletons(lake, epoch, f"concat({EPOCH.format('- 1')})")
    lake.reduce(full=True)
    rebuilt = lake.reduce(full=True)
    assert (rebuilt.exit, rebuilt.members["differences"]) == (0, {})


NUMBER = "CAST(conv(hex(substring(skeleton, 70, 1)), 16, 10) AS BIGINT)"
EPOCH = f"substring(skeleton, 1, 69), unhex(lpad(hex({NUMBER} {{}}), 2, '0')), substring(skeleton, 71, 1000)"


def skeletons(lake, namespace, sql):
    lake.damage("UPDATE pruned_record SET skeleton = {} WHERE namespace = '{}'", sql, namespace)

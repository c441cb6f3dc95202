"""Collections of logs: what goes is what the plain plan says, no answer changes, and nothing comes back."""

import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from threading import Barrier, Event
from types import SimpleNamespace
from uuid import UUID

import pytest
from deltalake import DeltaTable
from pyarrow.parquet import ParquetFile
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import PRUNED
from strandline.core.errors import FaultError, UsageError
from strandline.core.hashing import set_hash
from strandline.core.pruning import compute_checkpoint_pruning_boundary, snapshot_id
from strandline.dialect_api.pruning import Erasing
from strandline.dialects.aura.reduce.contexts import FlowKey
from strandline.dialects.aura.spark.contexts import charges
from strandline.dialects.aura.spark.contexts.budgets import flow_of
from strandline.dialects.aura.spark.contexts.retained import retained_facts
from strandline.dialects.aura.verify import EMPTY
from strandline.dialects.devicelog.codec import write_entry
from strandline.dialects.devicelog.reduce import plan_group
from strandline.dialects.devicelog.spark.tables import REDUCED as DEVICE_TABLES
from strandline.dialects.ipfslog.reduce import LogConfiguration, decode_carry, plan_log
from strandline.dialects.ipfslog.spark import pruning
from strandline.dialects.ipfslog.types import log_namespace
from strandline.dialects.sdmp.codec import render
from strandline.dialects.sdmp.types import line_hash
from strandline.frames.pruning import boundary
from strandline.pipelines import gc, gc_deletes, gc_rounds, gc_runs
from strandline.pipelines.faults import Faults
from strandline.pipelines.gc_upkeep import Upkeep
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.pipelines.unreduced import unreduced
from strandline.tables import maintain
from strandline.tables.commits import session_settings, transaction
from strandline.tables.delta_rs import open_delta_rs
from strandline.tables.prunings import APP_ID
from support import device_feeds
from support import pruned_contexts as contexts
from support.ages import age
from support.aura_cases import K3, U, after, facts, other_authority, states
from support.aura_corpus import line
from support.aura_reference import fact_row
from support.collected import assert_listed, carries, outcomes
from support.context_cases import context_vectors, pruning_context, reattested
from support.device_groups import Group
from support.devicelog_reference import entry_row
from support.ipfslog_cases import entry
from support.kills import KilledError, kill, killed_at
from support.lakes import Lake, counted, write_files
from support.log_lakes import ReferenceLogs, enter, enter_identities, file_of, lake_tables, union
from support.pruned_contexts import authority_rows, world
from support.random_devices import random_history
from support.random_logs import random_log
from unit.aura.test_context_snapshots import snapshot

V_COMMITMENT = after(EMPTY, other_authority()).commitment
AT_ONCE = Upkeep(compact_to=2**27, vacuum_hours=0, is_forced=True)
COMPACT = Upkeep(compact_to=2**27)
A_WEEK = Upkeep(vacuum_hours=168)
MOSTLY_FINAL = 53
"""A random history of which most messages can be erased."""
MANY_BUCKETS = 6
"""So many that one has a file without a body to erase: it stays beside a new one, and both are compacted."""
YOUNG = 15
"""Milliseconds: random devices write at times like 3 or 20."""
ROUNDS = 2
COUNTS = ("prunable", "pruned", "refused", "finished")


@pytest.mark.parametrize("seeds", [40, pytest.param(300, marks=pytest.mark.slow)], ids="{} logs".format)
def test_random_logs_are_collected_round_by_round_as_the_plain_plan_says(new_lake, tmp_path, seeds):
    logs = [random_log(seed, ROUNDS) for seed in range(seeds)]
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    enter_identities(lake)
    told = {log.log_id: log.told for log in logs if log.told is not None}
    reference.told.update(told)
    total, runs = 0, []
    for number in range(ROUNDS):
        entries = [each for log in logs for each in log.batches[number]]
        manifests = [each for log in logs for each in log.manifests] if number == 0 else []
        held = [each for each in entries if each.record_id not in reference.pruned.get(each.log_id, {})]
        enter(lake, held, manifests)
        reference.enter(entries, manifests)
        runs.append(lake.reduce(files=file_of(told)).run_id)
        had = {log_id: len(gone) for log_id, gone in reference.pruned.items()}
        before = lake_tables(lake)
        assert before == reference.tables()
        expected = plans(reference)
        # What is guessed is what happens; the last round has all cases.
        guessed = lake.gc(what_if=True) if number == ROUNDS - 1 else None
        versions = lake.versions()
        done = lake.gc()
        # Rows that went are no news: `status` does not ask for `reduce`.
        assert unreduced(open_delta_rs(lake.store().location), {"ipfslog": "ipfs_log_entry"}) == ()
        gone = {
            (log_namespace(log_id), each.record_id)
            for log_id, plan in expected.items()
            for each in plan.prune
        }
        assert counted(done, COUNTS) == {
            "prunable": len(gone),
            "pruned": len(gone),
            "refused": 0,
            "finished": 0,
        }
        if guessed is not None:
            assert guessed.counts["prunable"] == len(gone)
            assert collected(guessed) == collected(done)
        commits = {table: each - versions[table] for table, each in lake.versions().items()}
        assert sum(commits.values()) + 1 <= 8
        for log_id, plan in expected.items():
            reference.prune(log_id, [reference.entries[log_id][each.record_id] for each in plan.prune])
        total += len(gone)
        stored = {
            (namespace, record_id)
            for namespace, record_id in lake.rows("ipfs_log_entry", "namespace", "record_id")
        }
        assert gone.isdisjoint(stored)
        assert lake_tables(lake) == before
    assert lake.reduce(full=True).members["differences"] == {}
    assert lake_tables(lake) == before
    again = lake.gc()
    assert counted(again, COUNTS) == dict.fromkeys(COUNTS, 0)
    assert again.members["collections"] == []
    assert total > seeds
    skeletons(lake, reference)
    # What an earlier run read lacks what was pruned before it, not what came and was pruned after it.
    log_id = max(had, key=lambda each: min(had[each], len(reference.pruned[each]) - had[each]))
    assert 0 < had[log_id] < len(reference.pruned[log_id])
    for run, lacking in zip(runs, (0, had[log_id]), strict=True):
        then = lake.export(tmp_path / f"{run}.car", log_namespace(log_id), as_of=run)
        assert (then.counts["pruned"], then.outcome) == (lacking, "found" if lacking else "ok")


def collected(report):
    """What a report says of each namespace."""
    rows = report.members["collections"]
    return {row["namespace"]: (row["pruned"], row["bytes"], row["holds"]) for row in rows}


def plans(reference):
    """The plain plan of every log."""
    return {
        log_id: plan_log(
            held.values(), reference.configuration(log_id), reference.skeletons(log_id), skip_window=0
        )
        for log_id, held in reference.entries.items()
    }


def skeletons(lake, reference):
    """Carries and ids in the tables are those of the plain functions."""
    found = carries(lake)
    for log_id, gone in reference.pruned.items():
        if gone:
            assert decode_carry(found[log_namespace(log_id)]).count == len(gone)


@pytest.mark.parametrize(
    ("seeds", "rounds"),
    [(300, 1), pytest.param(60, 3, marks=pytest.mark.slow)],
    ids=["300 contexts", "60 contexts, 3 rounds"],
)
def test_random_contexts_are_collected_round_by_round_as_the_plain_plan_says(
    new_lake, tmp_path, seeds, rounds
):
    lake, reference = new_lake("contexts", dialect="aura"), world(seeds)
    # The context of the page is beside them, and is pruned as the page says.
    page = {pruning_context()["g"].namespace.text, U.text, other_authority().namespace.text}
    members = tuple(each.namespace.text for each in reference.members)
    # In a MERGE of its own: what is compacted in the end are the files of two.
    contexts.enter_rows(lake, [*page_rows(), *(row for each in reference.members for row in each.rows())])
    total, dump = 0, []
    for number in range(rounds):
        facts = [fact for source in reference.sources for fact in delivery(source, number)]
        dump += facts
        reference.enter(lake, facts)
        if number == 1:
            moved = [fact for each in reference.members for fact in each.advance()]
            contexts.enter_rows(lake, [fact_row(fact, None) for fact in moved])
        lake.reduce()
        before, forks = contexts.lake_tables(lake), lake.rows("equivocation")
        assert without(page, before) == reference.tables()
        expected = reference.plans()
        gone = {
            (namespace.text, each.record_id): each
            for namespace, plan in expected.items()
            for each in plan.prune
        }
        excluded = (*members, *page)
        guessed = lake.gc(what_if=True, excluded=excluded) if number == rounds - 1 else None
        done = lake.gc(excluded=excluded)
        assert counted(done, COUNTS) == dict.fromkeys(COUNTS, 0) | {
            "prunable": len(gone), "pruned": len(gone)
        }  # fmt: skip
        assert guessed is None or collected(guessed) == collected(done)
        assert {name: holds for name, (_, _, holds) in collected(done).items()} == {
            namespace.text: plan.holds for namespace, plan in expected.items() if plan.prune
        }
        assert_listed(lake, gone)
        reference.prune(expected)
        total += len(gone)
        assert carries(lake) == reference.carries
        assert (contexts.lake_tables(lake), lake.rows("equivocation")) == (before, forks)
    assert total > seeds
    content = b"".join(line(fact) + b"\n" for fact in dump)
    assert lake.ingest(write_files(tmp_path / "dump", {"facts.jsonl": content})).counts["new"] == 0
    # Of the others nothing is left to collect.
    prune_page(lake, excluded=(*members, U.text, other_authority().namespace.text))
    assert lake.rows("equivocation") == forks


def without(names, tables):
    """Tables without the rows of some namespaces."""
    return {table: [row for row in rows if names.isdisjoint(row)] for table, rows in tables.items()}


def delivery(source, number):
    """What comes in a round: new facts, and some that came before."""
    some = list(source.some(24))
    return [source.genesis, *some] if number == 0 else [*some, *source.draw.sample(source.made, 8)]


def assert_spent(lake, namespace):
    """The effects read the budgets of a context as its reduced rows say."""
    store, jobs = lake.store(), SparkJobs(NoProgress())
    stored = store.read("aura_fact").where(F.col("namespace") == namespace)
    retained = retained_facts(stored, store, jobs)
    rows = [
        row
        for row in lake.rows("flow_budget", "namespace", "src", "dst", "epoch", "spent")
        if row[0] == namespace
    ]
    assert rows
    for _, src, dst, epoch, spent in rows:
        key = FlowKey(UUID(src).bytes, UUID(dst).bytes, int(epoch))
        assert flow_of(retained, key, jobs).spent == spent


def page_rows():
    """The context of the vectors with its members, whose histories snapshots state, as rows."""
    other = other_authority()
    su = snapshot(0x32, "Kp", names=list(facts()), covers=facts().values())
    return [
        *authority_rows([*facts().values()], [su]),
        *authority_rows([other], [contexts.snapshot_of(other.namespace, [other], 1, K3)]),
        *map(fact_row, pruning_context().values()),
    ]


def prune_page(lake, **chosen):
    """Collect the context of the vectors, alone among those chosen: what goes and the carry are those of the page.

    Facts are compacted by two columns, of which Delta keeps minima of one.
    """
    before, versions = contexts.lake_tables(lake), lake.versions()
    space, told = pruning_context()["g"].namespace.text, context_vectors()["pruning"]
    done = lake.gc(skip_window=2, upkeep=COMPACT, **chosen)
    assert done.counts["compacted_files"] > 0
    [row] = done.members["collections"]
    assert [row[name] for name in ("namespace", "pruned", "holds", "snapshot_id")] == [
        space, 11, told["holds"], told["snapshot_id"]
    ]  # fmt: skip
    inputs = ((other_authority().namespace.text, V_COMMITMENT), (U.text, states()["Kp"].commitment))
    stated = lake.rows("snapshot", "namespace", "origin", "carry", "inputs")
    assert [row[2:] for row in stated if row[:2] == (space, "local")] == [
        (bytes.fromhex(told["carry"]), inputs)
    ]
    assert_spent(lake, space)
    # Its rows are there again, and still do not count; its snapshot is not, and skeletons add up to the carry.
    restored = lake.versions()["snapshot"]
    for table in ("aura_fact", "snapshot"):
        lake.damage(f"RESTORE TABLE delta.`{lake.path / table}` TO VERSION AS OF {versions[table]}")
    rebuilt = lake.reduce(full=True)
    assert (rebuilt.members["damaged"], rebuilt.members["differences"]) == ({"snapshot": [space]}, {})
    assert contexts.lake_tables(lake) == before
    assert_spent(lake, space)
    lake.damage(f"RESTORE TABLE delta.`{lake.path / 'snapshot'}` TO VERSION AS OF {restored}")
    return space, before


@pytest.mark.slow
def test_random_contexts_that_are_damaged_are_refused_and_what_moves_is_planned_again(
    new_lake, tmp_path, monkeypatch
):
    lake, reference, vector = new_lake("moved", dialect="aura"), world(12), pruning_context()
    members = (U.text, other_authority().namespace.text, *(each.namespace.text for each in reference.members))
    contexts.enter_rows(lake, [*page_rows(), *(row for each in reference.members for row in each.rows())])
    reference.enter(lake, [fact for source in reference.sources for fact in delivery(source, 0)])
    lake.reduce()
    space, before = prune_page(lake, namespaces=(vector["g"].namespace.text,))
    # A rule that lets charges go that their sender may still attest: the proof finds it.
    holds = charges.holds
    monkeypatch.setattr(
        charges, "holds", lambda rows, *rest: holds(rows.withColumn("is_met", F.lit(True)), *rest)
    )
    plans = {each: plan for each, plan in reference.plans().items() if plan.prune}
    expected = {each.text: len(plan.prune) for each, plan in plans.items()}
    charged = sorted(each.text for each, plan in plans.items() if "FlowCharge" in plan.kinds)
    wrong = lake.gc(excluded=(space, *members), dialects=("aura",))
    assert (wrong.exit, wrong.counts["finished"]) == (1, 11)
    refused = {name for name, told in outcomes(wrong).items() if told == ("REFUSED", "PROOF_FAILED", 0)}
    assert refused
    assert {name: pruned for name, (_, _, pruned) in outcomes(wrong).items() if name not in refused} == {
        name: count for name, count in expected.items() if name not in refused
    }
    assert {place.split()[1] for place in wrong.members["differences"]} >= {"flow_budget"}
    monkeypatch.undo()
    # A snapshot comes into force between the proof and the append.
    check, member = gc_rounds._still_holds, reference.members[0]
    member.height = len(member.ops)

    def late(*arguments):
        monkeypatch.setattr(gc_rounds, "_still_holds", check)
        contexts.enter_rows(lake, list(map(fact_row, member.in_force(1))))
        return check(*arguments)

    reference.prune({each: plan for each, plan in plans.items() if each.text not in refused})
    expected = {each.text: len(plan.prune) for each, plan in reference.plans().items() if plan.prune}
    monkeypatch.setattr(gc_rounds, "_still_holds", late)
    moved = lake.gc(excluded=(space, *members))
    assert {name: pruned for name, (_, _, pruned) in outcomes(moved).items()} == expected
    assert contexts.lake_tables(lake) == before
    # What went is known, and another copy of it does not count.
    copy = reattested(vector["f0"], "uv")
    content = b"".join(line(fact) + b"\n" for fact in (*vector.values(), copy))
    assert lake.ingest(write_files(tmp_path / "dump", {"facts.jsonl": content})).counts["new"] == 1
    lake.reduce()
    assert lake.rows("flow_budget") == before["flow_budget"]
    first, second, *_ = charged
    lake.damage(f"UPDATE snapshot SET carry = concat(carry, X'00') WHERE namespace = '{first}'")
    lake.damage(
        "UPDATE pruned_record SET skeleton = concat(substring(skeleton, 1, length(skeleton) - 1), X'17') "
        f"WHERE namespace = '{second}' AND skeleton IS NOT NULL"
    )
    done = lake.gc(skip_window=2, excluded=members)
    assert (done.exit, outcomes(done)) == (
        1,
        {
            first: ("REFUSED", "SNAPSHOT_DAMAGED", 0),
            second: ("REFUSED", "SNAPSHOT_DAMAGED", 0),
            space: ("DONE", None, 1),
        },
    )
    rebuilt = lake.reduce(full=True)
    assert (rebuilt.members["damaged"], rebuilt.members["differences"]) == ({"snapshot": [first]}, {})
    assert lake.rows("flow_budget") == before["flow_budget"]


def test_bodies_of_final_messages_are_erased_and_nothing_else_changes(new_lake, tmp_path):
    lake = new_lake("devices", dialect="devicelog", buckets=MANY_BUCKETS)
    groups = [random_history(seed).entries() for seed in range(40)]
    # A fork shows a message that can be erased; the text of a feed is what was signed.
    groups += [Group().run(FORKED_AND_REMOVED).entries(), device_feeds.held("a")]
    groups = {entries[0].namespace: entries for entries in groups}
    entries = [entry for group in groups.values() for entry in group]
    rows = [entry_row(entry, MANY_BUCKETS) | {"run_id": "test"} for entry in entries]
    union(lake, "device_log_entry", rows)
    lake.reduce()
    before = {table: lake.rows(table) for table in DEVICE_TABLES}
    asked = {"erase": {"devicelog": Erasing(before=YOUNG)}}
    plans = {name: plan_group(group, skip_window=0, before=YOUNG) for name, group in groups.items()}
    gone = {each.record_id for plan in plans.values() for each in plan.prune}
    assert len(gone) > 0
    guessed = lake.gc(what_if=True, **asked)
    with pytest.raises(KilledError):
        lake.gc(faults=killed_at("gc.pruned"), **asked)
    # A collection of another dialect leaves that one to be finished, and its rows say so.
    assert lake.gc(dialects=("ipfslog",)).counts["finished"] == 0
    assert set(lake.rows("gc_run", "outcome")) == {("WHAT_IF",), ("PROVED",)}
    done = lake.gc()
    assert set(lake.rows("gc_run", "outcome")) == {("WHAT_IF",), ("DONE",)}
    with pytest.raises(UsageError, match="Add --erase devicelog") as refused:
        lake.gc(namespaces=(next(iter(groups)),))
    assert refused.value.code == "OPTION_ALONE"
    assert (guessed.counts["prunable"], done.counts["finished"]) == (len(gone), len(gone))
    assert done.members["holds"]["devicelog"] == {"KIND_KEPT": len(entries)}
    assert {name: holds for name, (_, _, holds) in collected(guessed).items()} == {
        name: plan.holds for name, plan in plans.items() if plan.prune
    }
    stored = lake.rows("device_log_entry", "record_id", "body", "erased_at")
    assert {id_ for id_, body, _ in stored if body is None} == gone
    assert {id_ for id_, _, at in stored if at is not None} == gone
    assert lake.reduce(full=True).members["differences"] == {}
    assert {table: lake.rows(table) for table in DEVICE_TABLES} == before
    late = random_history(MOSTLY_FINAL).entries()
    groups[late[0].namespace] = late
    lake.dialect = "devicelog"
    last = next(
        entry for entry in late if entry.record_id == plan_group(late, skip_window=0).prune[-1].record_id
    )
    forged = replace(last, sig=bytes(64))
    # All but the first wait for it in quarantine, with their bytes: a deletion vector hides them when it comes, in the
    # file of a copy that is rejected.
    lake.damage("ALTER TABLE quarantine SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    for number, part in enumerate(([*late[1:], forged], late[:1])):
        content = b"".join(write_entry(entry) + b"\n" for entry in part)
        lake.ingest(write_files(tmp_path / f"late{number}", {"entries.jsonl": content}))
    assert {entry.record_id for entry in late} <= {
        id_ for (id_,) in lake.rows("device_log_entry", "record_id")
    }
    whole = lake.versions()["device_log_entry"]
    everything = lake.gc(erase={"devicelog": Erasing()}, upkeep=AT_ONCE)
    rest = {each.record_id for group in groups.values() for each in plan_group(group, skip_window=0).prune}
    assert gone < rest
    assert (everything.counts["pruned"], everything.counts["erased"]) == (len(rest - gone),) * 2
    forks = [set(members[:2]) & (rest - gone) for (members,) in lake.rows("equivocation", "members")]
    assert everything.counts["still_shown"] == sum(map(len, forks)) + 1 > 1
    # The late entries are not reduced: files that their reduction needs stay.
    assert (everything.exit, everything.counts["removed_files"]) == (1, 0)
    assert {row["reason"] for row in everything.members["collections"]} == {"READER_BEHIND"}
    assert shown_bodies(lake, rest) == rest
    assert len(waiting_copies(lake, rest)) > 0
    assert everything.counts["compacted_files"] > everything.counts["written_files"] > 0
    # What has gone within a week stays for another reader, and a reduction that is behind by a day needs no older file.
    still = without_vacuum(lake)
    week = lake.gc(upkeep=A_WEEK)
    assert (week.exit, week.counts["removed_files"], week.members["behind"]) == (0, 0, [])
    assert (shown_bodies(lake, rest), without_vacuum(lake)) == (rest, still)
    assert still > 0
    lake.reduce()
    # A commit without records, as a collection makes one: nothing is left to reduce, and the state says so.
    lake.damage("ALTER TABLE device_log_entry SET TBLPROPERTIES ('made.for' = 'this test')")
    newest = lake.versions()["device_log_entry"]
    # As after `maintain`: the tables keep files for longer than `gc` is asked to.
    long = Lake(lake.spark, lake.settings, tmp_path / "long", dialect="devicelog")
    shutil.copytree(lake.path, long.path)
    for table in ("device_log_entry", "quarantine"):
        maintain.keep_for(long.store(), table, 30)
    for made in (lake, long):
        old = Lake(lake.spark, lake.settings, tmp_path / f"old-{made.path.name}", dialect="devicelog")
        shutil.copytree(made.path, old.path)
        age(old.path, 10)
        aged = old.gc(upkeep=A_WEEK)
        assert (aged.exit, aged.counts["removed_files"] > 0, without_vacuum(old)) == (0, True, 0)
        assert shown_bodies(old, rest) == set()
    assert_told_gone_once_they_are(lake, tmp_path, rest, whole)
    texts = archived(lake, tmp_path)
    done = lake.gc(upkeep=AT_ONCE, archive=tmp_path / "archive")
    assert counted(done, ("archived", "unarchived")) == {"archived": len(texts), "unarchived": 1}
    assert_archived(tmp_path / "archive", texts)
    assert max(lake.rows("namespace_state", "reduced_version")) == (newest,)
    assert (shown_bodies(lake, rest), waiting_copies(lake, rest)) == (set(), {last.record_id})
    assert without_vacuum(lake) == 0
    assert lake.reduce().counts["new_records"] == 0
    assert lake.reduce(full=True).members["differences"] == {}
    # What was erased does not come back.
    lines = b"".join(write_entry(entry) + b"\n" for entry in entries if entry.profile == "native")
    lake.dialect = "devicelog"
    assert lake.ingest(write_files(tmp_path / "dump", {"entries.jsonl": lines})).counts["new"] == 0
    assert {id_ for id_, body in lake.rows("device_log_entry", "record_id", "body") if body is None} == rest
    # A file has what is left of a group, and says how much is not.
    left = [entry for entry in late if entry.record_id not in rest]
    told = lake.export(tmp_path / "late.jsonl", late[0].namespace)
    assert (told.exit, counted(told, ("records", "erased", "pruned"))) == (
        1,
        {"records": len(left), "erased": len(late) - len(left), "pruned": len(late) - len(left)},
    )
    assert (tmp_path / "late.jsonl").read_bytes() == b"".join(
        write_entry(entry) + b"\n" for entry in sorted(left, key=lambda each: (each.lamport, each.record_id))
    )
    again = lake.ingest(tmp_path / "late.jsonl", require_manifest=True)
    assert (again.exit, counted(again, ("read", "known"))) == (0, dict.fromkeys(("read", "known"), len(left)))


def assert_told_gone_once_they_are(lake, folder, erased, whole):
    """Bodies that a RESTORE brings back, long after they were erased, are erased again: their files stay for a week."""

    def days_later(from_lake, name):
        made = Lake(from_lake.spark, from_lake.settings, folder / name, dialect=from_lake.dialect)
        shutil.copytree(from_lake.path, made.path)
        # They have the times of today; each log has all commits.
        for checkpoint in made.path.glob("*/_delta_log/*checkpoint*"):
            checkpoint.unlink()
        age(made.path, 10)
        return made

    back = days_later(lake, "back")
    # Delta restores no version that is older than what the table keeps; the restored one keeps a week again.
    back.damage(
        "ALTER TABLE device_log_entry SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 30 days')"
    )
    back.damage(f"RESTORE TABLE device_log_entry TO VERSION AS OF {whole}")
    back.reduce()
    # They came back ten days ago, and are erased again now.
    again = days_later(back, "again")
    done = again.gc(upkeep=A_WEEK)
    assert (done.exit, done.counts["finished"] > 0, done.members["behind"]) == (0, True, [])
    assert shown_bodies(again, erased) != set()
    assert without_vacuum(again) > 0
    end = days_later(again, "end")
    assert end.gc(upkeep=A_WEEK).exit == 0
    assert (shown_bodies(end, erased), without_vacuum(end)) == (set(), 0)


FORKED_AND_REMOVED = [
    ["found", "a", 1, ["b"], YOUNG],
    ["join", "b", 2, "a", None, YOUNG],
    ["append", "b", "b1", YOUNG],
    ["merge", "a", "b", YOUNG, None, "forward"],
    ["remove", "a", "b", YOUNG, None, None],
    ["twin", "b 1", "b1 again", None],
]
"""A log is removed after a message that it forked at: the message is final, and so is its removal."""


def without_vacuum(lake):
    """How many collections there are of which deleted bytes may be in files."""
    query = "SELECT count(*) FROM gc_run WHERE gc_number IS NOT NULL AND vacuumed_at IS NULL"
    [(count,)] = lake.asked(query)
    return count


def shown_bodies(lake, records):
    """The records whose body is in some file of the record table."""
    return in_files(lake, "device_log_entry", "body") & records


def waiting_copies(lake, records):
    """The records whose bytes are in some file of quarantine."""
    return in_files(lake, "quarantine", "raw") & records


def in_files(lake, table, column):
    """The records with a column in some file of a table, old or new, or of its change data."""
    found = set()
    for path in (lake.path / table).rglob("*.parquet"):
        if "_delta_log" in path.parts:
            continue
        rows = ParquetFile(path).read(["record_id", column]).to_pylist()
        found |= {row["record_id"] for row in rows if row[column] is not None}
    return found


def archived(lake, folder):
    """Journals of nodes in the lake, one of which forks: the texts of the others by node."""
    lake.dialect = "sdmp"
    texts = {node: render(chain_of_lines(node, 2)) for node in ("1" * 64, "2" * 64)}
    forked = [render(chain_of_lines("3" * 64, 3, end)) for end in ("a" * 64, "b" * 64)]
    files = {f"{number}.journal": text for number, text in enumerate([*texts.values(), *forked])}
    lake.ingest(write_files(folder / "journals", files))
    return texts


def chain_of_lines(node, count, resource="f" * 64):
    """The lines of a journal."""
    lines = [node.encode()]
    while len(lines) < count:
        lines.append(f"{line_hash(lines[-1])}@{node}/{resource}".encode())
    return lines


def assert_archived(folder, texts):
    """The files are the journals, and the manifest tells of each."""
    assert {path.name: path.read_bytes() for path in folder.glob("*.journal")} == {
        f"node-{node}.journal": text for node, text in texts.items()
    }
    told = [json.loads(each) for each in (folder / "_manifest.jsonl").read_text().splitlines()]
    assert told == [
        {
            "namespace": f"node:{node}", "lines": text.count(b"\n") + 1, "bytes": len(text),
            "sha256": hashlib.sha256(text).hexdigest(), "tip": line_hash(text.rpartition(b"\n")[2]),
        }
        for node, text in sorted(texts.items())
    ]  # fmt: skip


def chain(log_id, keys="aaaaaa"):
    """A log in which each entry follows the one before and overwrites a key."""
    made = []
    for time, key in enumerate(keys, start=1):
        parents = [made[-1].cid] if made else []
        made.append(
            entry({"op": "PUT", "key": key, "value": time}, log_id=log_id, time=time, parents=parents)
        )
    return made


def test_what_is_damaged_or_moved_or_wrong_is_told_and_costs_nothing(new_lake, monkeypatch):
    lake = new_lake(dialect="ipfslog")
    enter_identities(lake)
    names = ("carry", "member", "listed", "walked", "moved", "based", "held", "usable", "wrong", "spared")
    logs = {name: chain(name, "yxyyyy" if name == "wrong" else "aaaaaa") for name in names}
    enter(lake, [each for made in logs.values() for each in made])
    told = {name: LogConfiguration("keyvalue", ("*",), "config") for name in names}
    lake.reduce(files=file_of(told))
    taken = lake.snapshot(namespaces=tuple(name for name in names if name != "wrong"))
    assert counted(taken, ("snapshots", "covered", "prunable")) == {
        "snapshots": 9, "covered": 54, "prunable": 36
    }  # fmt: skip
    assert lake.snapshot(namespaces=("carry", "usable")).counts["snapshots"] == 0
    before = lake_tables(lake)
    lake.damage("UPDATE snapshot SET carry = concat(carry, X'00') WHERE namespace = 'log:carry'")
    lake.damage("DELETE FROM snapshot_member WHERE namespace = 'log:member' AND prune")
    lake.damage(
        "UPDATE snapshot_member SET record_id = unhex(sha2('x', 256)) WHERE namespace = 'log:listed' AND hold = 'TAIL'"
    )
    forge(lake, {"log:based": (bytes(32), ()), "log:held": (None, {logs["held"][-1].record_id})})
    lie = entry("late", log_id="walked", time=1, parents=[logs["walked"][4].cid])
    enter(lake, [lie])
    told["moved"] = LogConfiguration("documents", ("*",), "config")
    lake.reduce(files=file_of(told))
    lake.damage("ALTER TABLE ipfs_log_entry SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
    with pytest.raises(UsageError) as refused:
        lake.gc()
    assert refused.value.code == "TABLE_APPEND_ONLY"
    lake.damage("ALTER TABLE ipfs_log_entry SET TBLPROPERTIES ('delta.appendOnly' = 'false')")
    with pytest.raises(UsageError) as refused:
        lake.gc(namespaces=("nobody",))
    assert refused.value.code == "NAMESPACE_UNKNOWN"
    # Rules that forget the rows of stores: the proof finds it.
    monkeypatch.setattr(pruning, "DOCUMENTS", "ipfs_log_tail")
    done = lake.gc(excluded=("spared",), min_prunable=4)
    monkeypatch.undo()
    assert (done.exit, done.counts["refused"]) == (1, 4)
    assert outcomes(done) == {
        "log:carry": ("REFUSED", "SNAPSHOT_DAMAGED", 0),
        "log:member": ("REFUSED", "SNAPSHOT_DAMAGED", 0),
        "log:listed": ("REFUSED", "SNAPSHOT_DAMAGED", 0),
        "log:wrong": ("REFUSED", "PROOF_FAILED", 0),
        "log:moved": ("DONE", "CONTRACT_MOVED", 4),
        "log:based": ("DONE", "BASE_MOVED", 4),
        "log:held": ("DONE", "HELD", 4),
        "log:usable": ("DONE", None, 4),
    }
    assert any(place.startswith("log:wrong ipfs_log_document") for place in done.members["differences"])
    assert done.members["holds"]["ipfslog"]["WALK_MODE"] == 7
    assert {namespace for (namespace,) in lake.rows("pruned_record", "namespace")} == {
        "log:moved", "log:based", "log:held", "log:usable"
    }  # fmt: skip
    # A damaged snapshot is replaced by one that lists all; then the records may go.
    assert lake.snapshot().counts["damaged"] == 3
    # Another collection took this one for killed while it pruned, and closed its row.
    closed = lake.rows("gc_run", "namespace", "outcome", "pruned", "gc_number")
    lake.damage(
        "UPDATE gc_run SET outcome = IF(namespace = 'log:held', 'VOID', 'PROVED'), pruned = 0, gc_number = NULL "
        "WHERE namespace IN ('log:held', 'log:wrong')"
    )
    # One that it takes for killed, too, is alive: it ends before this one closes its row.
    write = gc_runs.write_runs

    def write_late(store, runs, *given):
        monkeypatch.undo()
        lake.damage("UPDATE gc_run SET outcome = 'REFUSED' WHERE namespace = 'log:wrong'")
        return write(store, runs, *given)

    monkeypatch.setattr(gc_runs, "write_runs", write_late)
    # Collections whose rows a RESTORE removed: Delta still skips their numbers.
    claim(lake, 12)
    # Rows that a deletion vector hides are still in their file.
    lake.damage("ALTER TABLE ipfs_log_entry SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    # A collection that is killed before it writes the files anew leaves them, and the next one finds them.
    with monkeypatch.context() as dying:
        dying.setattr(gc_deletes, "maintain", SimpleNamespace(purge=lambda *_: kill()))
        with pytest.raises(KilledError):
            lake.gc(namespaces=("member",))
    assert len(hidden(lake)) == 4
    assert lake.gc(namespaces=("carry",)).counts["finished"] == 0
    assert hidden(lake) == set()
    rest = lake.gc(excluded=("spared",), min_prunable=4, upkeep=Upkeep(vacuum_hours=0, is_forced=True))
    assert in_files(lake, "ipfs_log_entry", "block") == {
        id_ for (id_,) in lake.rows("ipfs_log_entry", "record_id")
    }
    assert without_vacuum(lake) == 0
    assert lake.asked("SELECT max(gc_number) FROM pruned_record") == [(15,)]
    assert set(closed) <= set(lake.rows("gc_run", "namespace", "outcome", "pruned", "gc_number"))
    assert outcomes(rest) == {
        "log:listed": ("DONE", None, 4),
        "log:wrong": ("DONE", "NOTHING_TO_PRUNE", 0),
    }
    lake.reduce(files=file_of(told))
    after = lake_tables(lake)
    assert [row for row in after["ipfs_log_view"] if row[0] not in ("log:walked", "log:moved")] == [
        row for row in before["ipfs_log_view"] if row[0] not in ("log:walked", "log:moved")
    ]
    assert lake.reduce(full=True).members["differences"] == {}
    current = lake.asked("SELECT namespace, status FROM snapshot_status WHERE is_current")
    assert sorted(current) == [
        (f"log:{name}", "applied")
        for name in ("based", "carry", "held", "listed", "member", "moved", "usable")
    ]
    retried(lake, told)


def retried(lake, told):
    """A retry leaves to the next run what its attempt pruned before it was killed, records that came since included."""
    again = {"run_id": "retried", "namespaces": ("spared",)}
    with pytest.raises(KilledError):
        lake.gc(faults=killed_at("gc.pruned"), **again)
    enter(lake, chain("spared", "aaaaaaaa")[6:])
    lake.reduce(files=file_of(told))
    done = lake.gc(**again)
    assert counted(done, COUNTS) == dict.fromkeys(COUNTS, 0) | {"finished": 4}
    assert done.members["collections"] == []
    [row] = [row[1:] for row in lake.rows("gc_run", "run_id", "outcome", "pruned") if row[0] == "retried"]
    assert row == ("DONE", 4)
    lake.assert_sound()
    assert lake.gc(namespaces=("spared",)).counts["pruned"] == 2


def hidden(lake):
    """The pruned entries that are in a file of the current version."""
    files = DeltaTable(str(lake.path / "ipfs_log_entry")).file_uris()
    found = {id_ for file in files for id_ in ParquetFile(file).read(["record_id"])["record_id"].to_pylist()}
    return found & {id_ for (id_,) in lake.rows("pruned_record", "record_id")}


def claim(lake, number):
    """Commit to `pruned_record` as the collection of a number, without rows."""
    store, settings = lake.store(), transaction(APP_ID, number, "undone")
    with session_settings(lake.spark, settings):
        rows = store.read(PRUNED).limit(0).write.format("delta").mode("append")
        rows.save(store.location.table_path(PRUNED))


def forge(lake, forged):
    """Newer snapshots that are whole, by namespace: on another base, or with more records to prune."""
    store, made_members, made = lake.store(), [], []
    for namespace, (base, more) in forged.items():
        [old] = [row.asDict() for row in store.read("snapshot").where(f"namespace = '{namespace}'").collect()]
        members = [
            row.asDict()
            for row in store.read("snapshot_member").where(f"namespace = '{namespace}'").collect()
        ]
        for row in members:
            if bytes(row["record_id"]) in more:
                row |= {"prune": True, "hold": None}
        prune = set_hash(bytes(row["record_id"]) for row in members if row["prune"])
        id_ = snapshot_id(
            namespace=namespace, sequence=2, base=base, state_hash=bytes(old["state_hash"]),
            members=bytes(old["members_digest"]), prune=prune, carry=bytes(old["carry"]),
        )  # fmt: skip
        changed = {
            "snapshot_id": id_, "sequence": Decimal(2), "base": base, "prune_digest": prune,
            "prune_count": sum(row["prune"] for row in members),
        }  # fmt: skip
        made_members += [row | {"snapshot_id": id_} for row in members]
        made.append(old | changed)
    union(lake, "snapshot_member", made_members)
    union(lake, "snapshot", made)


POINTS = ("gc.proved", "gc.pruned")
"""Before and after records have gone; `test_gc_kills.py` kills a process at each."""


@pytest.mark.slow
def test_a_kill_at_any_point_and_one_repeat_end_as_if_nothing_had_happened(new_lake, monkeypatch):
    lake = new_lake(dialect="ipfslog")
    enter_identities(lake)
    logs = [chain(f"killed {point}") for point in POINTS] + [chain("raced"), chain("late")]
    enter(lake, [each for made in logs for each in made])
    told = {made[0].log_id: LogConfiguration("keyvalue", ("*",), "config") for made in logs}
    lake.reduce(files=file_of(told))
    before = lake_tables(lake)
    for point in POINTS:
        with pytest.raises(KilledError):
            lake.gc(namespaces=(f"killed {point}",), faults=killed_at(point))
    # Readers see the new state from the append on, whether rows are deleted or not.
    assert lake.reduce(full=True).members["differences"] == {}
    assert lake_tables(lake) == before
    # Another collection is faster between the proof and the append: this one starts over, and finds nothing.
    append = gc_rounds.append_pruned

    def late(store, rows, number):
        monkeypatch.setattr(gc_rounds, "append_pruned", append)
        assert lake.gc(namespaces=("raced",)).counts["pruned"] == 4
        return append(store, rows, number)

    monkeypatch.setattr(gc_rounds, "append_pruned", late)
    raced = lake.gc(namespaces=("raced",))
    assert counted(raced, COUNTS) == dict.fromkeys(COUNTS, 0) | {"finished": 4}
    monkeypatch.setattr(gc_rounds, "_append", lambda *_: None)
    monkeypatch.setattr(gc, "ROUNDS", 1)
    with pytest.raises(FaultError) as lost:
        lake.gc(namespaces=("late",))
    assert lost.value.code == "GC_LOST_RACES"
    monkeypatch.undo()
    done = lake.gc()
    assert done.counts["pruned"] == 4 * 2
    assert len(lake.rows("ipfs_log_entry", "record_id")) == 2 * len(logs)
    assert len(lake.rows("pruned_record", "record_id")) == 4 * len(logs)
    assert lake.reduce(full=True).members["differences"] == {}
    assert lake_tables(lake) == before
    told_of = sorted(
        {(outcome, reason) for outcome, reason in lake.rows("gc_run", "outcome", "reason")}, key=repr
    )
    assert told_of == [("DONE", None), ("LOST_RACE", None), ("VOID", None)]
    # What is offered again is known; a row that an ingest put back beside a collection goes at the next one.
    enter(lake, logs[0])
    assert lake.reduce().counts["new_records"] == 4
    assert lake_tables(lake) == before
    assert counted(lake.gc(), COUNTS) == dict.fromkeys(COUNTS, 0) | {"finished": 4}
    assert len(lake.rows("ipfs_log_entry", "record_id")) == 2 * len(logs)


@pytest.mark.slow
def test_two_collections_and_an_ingest_at_once_end_as_one_after_the_other(new_lake):
    lake = new_lake(dialect="ipfslog")
    enter_identities(lake)
    logs = {name: chain(name) for name in ("one", "two", "fed")}
    enter(lake, [each for made in logs.values() for each in made])
    told = {name: LogConfiguration("keyvalue", ("*",), "config") for name in (*logs, "new")}
    lake.reduce(files=file_of(told))
    before = lake_tables(lake)
    # All three are at work until both collections have their proof: one number, one of them gets it.
    proved = Barrier(3, timeout=120)

    def collect(_):
        own = Lake(lake.spark.newSession(), lake.settings, lake.path, dialect="ipfslog")
        return own.gc(faults=Faults("gc.proved", fire=proved.wait))

    def feed():
        own = Lake(lake.spark.newSession(), lake.settings, lake.path, dialect="ipfslog")
        proved.wait()
        # Beside the append and the deletions: entries that go, and entries of a new log.
        enter(own, [*logs["fed"], *chain("new")])

    with ThreadPoolExecutor(3) as pool:
        fed, reports = pool.submit(feed), list(pool.map(collect, range(2)))
        fed.result()
    gone = sorted(report.counts["pruned"] for report in reports)
    assert sum(gone) in (4 * len(logs), 4 * (len(logs) + 1))
    assert [report.exit for report in reports] == [0, 0]
    outcomes = [outcome for (outcome,) in lake.rows("gc_run", "outcome")]
    assert outcomes.count("LOST_RACE") == len(logs)
    numbers = {number for (number,) in lake.rows("pruned_record", "gc_number")}
    assert len(lake.rows("pruned_record", "record_id")) == len(
        set(lake.rows("pruned_record", "namespace", "record_id"))
    )
    lake.reduce()
    last = lake.gc()
    assert last.counts["refused"] == 0
    assert numbers <= {number for (number,) in lake.rows("pruned_record", "gc_number")}
    assert len(lake.rows("ipfs_log_entry", "record_id")) == 2 * len(told)
    assert len(lake.rows("pruned_record", "record_id")) == 4 * len(told)
    assert lake.reduce(full=True).members["differences"] == {}
    rest = {table: [row for row in rows if row[0] != "log:new"] for table, rows in lake_tables(lake).items()}
    assert rest == before


@pytest.mark.slow
def test_a_collection_that_another_one_takes_for_killed_is_told_as_done(new_lake, monkeypatch):
    lake = new_lake(dialect="ipfslog")
    enter_identities(lake)
    enter(lake, chain("one"))
    lake.reduce(files=file_of({"one": LogConfiguration("keyvalue", ("*",), "config")}))
    proved, seen, write = Event(), Event(), gc_runs.write_runs

    def prove():
        proved.set()
        seen.wait(120)

    def collect():
        own = Lake(lake.spark.newSession(), lake.settings, lake.path, dialect="ipfslog")
        return own.gc(faults=Faults("gc.proved", fire=prove))

    def write_late(store, runs, *given):
        # The other one saw a proof without a number; now this one prunes and ends.
        monkeypatch.undo()
        seen.set()
        assert first.result().counts["pruned"] == 4
        return write(store, runs, *given)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(collect)
        assert proved.wait(120)
        monkeypatch.setattr(gc_runs, "write_runs", write_late)
        lake.gc()
    assert lake.rows("gc_run", "outcome", "pruned", "gc_number") == [("DONE", 4, 1)]
    assert lake.rows("gc_run", "delete_version") != [(None,)]


def test_the_boundary_is_exact_in_spark(spark):
    generations = (0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63, 2**64 - 1, 5000)
    windows = (0, 1, 2, 3, 512, 1024, 2**31, 2**32 - 1)
    given = spark.createDataFrame([(Decimal(each),) for each in generations], "generation DECIMAL(20,0)")
    columns = [boundary(F.col("generation"), window).alias(str(window)) for window in windows]
    found = {int(row["generation"]): row for row in given.select("generation", *columns).collect()}
    for generation in generations:
        expected = [compute_checkpoint_pruning_boundary(generation, window) for window in windows]
        assert [int(found[generation][str(window)]) for window in windows] == expected

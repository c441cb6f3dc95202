"""Collections of logs: what goes is what the plain plan says, no answer changes, and nothing comes back."""

from decimal import Decimal

import pytest
from pyspark.sql import functions as F

from strandline.core.errors import FaultError, UsageError
from strandline.core.hashing import set_hash
from strandline.core.pruning import compute_checkpoint_pruning_boundary, snapshot_id
from strandline.dialects.ipfslog.reduce import LogConfiguration, decode_carry, plan_log
from strandline.dialects.ipfslog.spark import pruning
from strandline.dialects.ipfslog.types import log_namespace
from strandline.frames.pruning import boundary
from strandline.pipelines import gc
from strandline.pipelines.faults import Faults
from support.ipfslog_cases import entry
from support.lakes import counted
from support.log_lakes import ReferenceLogs, enter, enter_identities, file_of, lake_tables, union
from support.random_logs import random_log

SEEDS, ROUNDS = range(40), 2
COUNTS = ("prunable", "pruned", "refused", "finished")


@pytest.fixture(scope="module")
def logs():
    return [random_log(seed, ROUNDS) for seed in SEEDS]


def test_random_logs_are_collected_round_by_round_as_the_plain_plan_says(new_lake, logs):
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    enter_identities(lake)
    told = {log.log_id: log.told for log in logs if log.told is not None}
    reference.told.update(told)
    total = 0
    for number in range(ROUNDS):
        entries = [each for log in logs for each in log.batches[number]]
        manifests = [each for log in logs for each in log.manifests] if number == 0 else []
        held = [each for each in entries if each.record_id not in reference.pruned.get(each.log_id, {})]
        enter(lake, held, manifests)
        reference.enter(entries, manifests)
        lake.reduce(files=file_of(told))
        before = lake_tables(lake)
        assert before == reference.tables()
        expected = plans(reference)
        guessed = lake.gc(what_if=True)
        versions = lake.versions()
        assert lake.rows("pruned_record") == [] or number
        done = lake.gc()
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
        assert guessed.counts["prunable"] == len(gone)
        assert {
            row["namespace"]: (row["pruned"], row["bytes"], row["holds"])
            for row in guessed.members["collections"]
        } == {
            row["namespace"]: (row["pruned"], row["bytes"], row["holds"])
            for row in done.members["collections"]
        }
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
        lake.assert_sound()
    assert total > len(SEEDS)
    skeletons(lake, reference)


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
    """Skeletons, carries and ids in the tables are those of the plain functions."""
    carries = {
        namespace: carry
        for namespace, carry, _ in lake.asked(
            "SELECT s.namespace, s.carry, s.sequence FROM snapshot AS s JOIN (SELECT namespace, max_by(snapshot_id, "
            "gc_number) AS snapshot_id FROM pruned_record GROUP BY namespace) AS a ON a.namespace = s.namespace "
            "AND a.snapshot_id = s.snapshot_id"
        )
    }
    for log_id, gone in reference.pruned.items():
        if gone:
            assert decode_carry(carries[log_namespace(log_id)]).count == len(gone)


class KilledError(Exception):
    """In place of SIGKILL."""


def _kill():
    raise KilledError


def chain(log_id, keys="aaaaaa"):
    """A log in which each entry follows the one before and overwrites a key."""
    made = []
    for time, key in enumerate(keys, start=1):
        parents = [made[-1].cid] if made else []
        made.append(
            entry({"op": "PUT", "key": key, "value": time}, log_id=log_id, time=time, parents=parents)
        )
    return made


def outcomes(report):
    return {
        row["namespace"]: (row["outcome"], row["reason"], row["pruned"])
        for row in report.members["collections"]
    }


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
    forge(lake, "log:based", base=bytes(32))
    forge(lake, "log:held", more=(logs["held"][-1].record_id,))
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
    rest = lake.gc(excluded=("spared",), min_prunable=4)
    assert outcomes(rest) == {
        "log:carry": ("DONE", None, 4),
        "log:member": ("DONE", None, 4),
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


def forge(lake, namespace, *, base=None, more=()):
    """A newer snapshot of a namespace that is whole: on another base, or with more records to prune."""
    store = lake.store()
    [old] = [row.asDict() for row in store.read("snapshot").where(f"namespace = '{namespace}'").collect()]
    members = [
        row.asDict() for row in store.read("snapshot_member").where(f"namespace = '{namespace}'").collect()
    ]
    for row in members:
        if bytes(row["record_id"]) in more:
            row |= {"prune": True, "hold": None}
    prune = set_hash(bytes(row["record_id"]) for row in members if row["prune"])
    made = snapshot_id(
        namespace=namespace, sequence=2, base=base, state_hash=bytes(old["state_hash"]),
        members=bytes(old["members_digest"]), prune=prune, carry=bytes(old["carry"]),
    )  # fmt: skip
    count = sum(row["prune"] for row in members)
    changed = {
        "snapshot_id": made,
        "sequence": Decimal(2),
        "base": base,
        "prune_digest": prune,
        "prune_count": count,
    }
    union(lake, "snapshot_member", [row | {"snapshot_id": made} for row in members])
    union(lake, "snapshot", [old | changed])


POINTS = ("snapshot.members", "snapshot.row", "gc.proved", "gc.delete", "gc.deleted", "gc.pruned")


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
            lake.gc(namespaces=(f"killed {point}",), faults=Faults(point, fire=_kill))
    # Readers see the new state from the append on, whether rows are deleted or not.
    assert lake.reduce(full=True).members["differences"] == {}
    assert lake_tables(lake) == before
    # Another collection is faster between the proof and the append: this one starts over, and finds nothing.
    append = gc.append_pruned

    def late(store, rows, number):
        monkeypatch.setattr(gc, "append_pruned", append)
        assert lake.gc(namespaces=("raced",)).counts["pruned"] == 4
        return append(store, rows, number)

    monkeypatch.setattr(gc, "append_pruned", late)
    raced = lake.gc(namespaces=("raced",))
    assert counted(raced, COUNTS) == dict.fromkeys(COUNTS, 0) | {"finished": 4}
    monkeypatch.setattr(gc, "append_pruned", lambda *_: False)
    monkeypatch.setattr(gc, "ROUNDS", 1)
    with pytest.raises(FaultError) as lost:
        lake.gc(namespaces=("late",))
    assert lost.value.code == "GC_LOST_RACES"
    monkeypatch.undo()
    done = lake.gc()
    assert done.counts["pruned"] == 4 * 4
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
    lake.assert_sound()


def test_the_boundary_is_exact_in_spark(spark):
    generations = (0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63, 2**64 - 1, 5000)
    windows = (0, 1, 2, 3, 512, 1024, 2**31, 2**32 - 1)
    given = spark.createDataFrame([(Decimal(each),) for each in generations], "generation DECIMAL(20,0)")
    columns = [boundary(F.col("generation"), window).alias(str(window)) for window in windows]
    found = {int(row["generation"]): row for row in given.select("generation", *columns).collect()}
    for generation in generations:
        expected = [compute_checkpoint_pruning_boundary(generation, window) for window in windows]
        assert [int(found[generation][str(window)]) for window in windows] == expected

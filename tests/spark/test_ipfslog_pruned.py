"""Entries that were pruned stay known, keep their place, and change no answer, whatever is ingested later."""

import hashlib
import json
import random

import pytest

from strandline.core.errors import UsageError
from strandline.core.hashing import set_hash
from strandline.dialect_api.info import GivenOption
from strandline.dialects.ipfslog.author import Log, to_lines, to_snapshot
from strandline.dialects.ipfslog.reduce import LogConfiguration
from strandline.dialects.ipfslog.spark import few_entries
from support.ipfslog_cases import LOG, chain, dag, entry, lies, who
from support.lakes import counted, write_files
from support.log_lakes import ReferenceLogs, lake_tables, prune

NAMESPACE = f"log:{LOG}"
COUNTS = ("read", "new", "known", "rejected", "signatures_verified")


def stated(name, entries, heads, **changed):
    """A manifest beside one file of lines."""
    data = to_lines(entries)
    ids = {each.record_id for each in entries}
    place = {
        "namespace": NAMESPACE,
        "records": len(ids),
        "set_hash": set_hash(ids).hex(),
        "heads": sorted(each.record_id.hex() for each in heads),
    }
    file = {
        "name": name,
        "records": len(entries),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    told = {"strandline_manifest": 1, "dialect": "ipfslog", "files": [file], "namespaces": [place | changed]}
    return {name: data, f"{name}.manifest.json": json.dumps(told).encode()}


def told(store, log_id=LOG):
    logs = {"logs": [{"id": log_id, "store": store}]}
    return {"log-config": GivenOption("logs.json", json.dumps(logs).encode())}


def overtaken():
    """Six entries of a log: the fourth follows the third and the last one, and has a clock below it."""

    def put(key, value, time, *parents):
        cids = [each.cid for each in parents]
        return entry({"op": "PUT", "key": key, "value": value}, log_id="overtaken", time=time, parents=cids)

    first = put("x", 1, 1)
    second = put("x", 2, 2, first)
    third = put("x", 3, 3, second)
    parent = put("y", 9, 50)
    child = put("z", 1, 4, third, parent)
    return first, second, third, child, put("w", 1, 5, child), parent


def test_pruned_entries_are_known_and_keep_their_place_and_manifests_count_them(
    new_lake, tmp_path, monkeypatch
):
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    made = dag("v2")
    entries, heads = list(made.values()), [made[name] for name in ("b3", "a4", "c2")]
    reference.told[LOG] = LogConfiguration("keyvalue", ("*",), "config")
    reference.enter(entries)
    # What manifests state of a log: its ids and its heads.
    wrong = stated("w.jsonl", entries, heads[:2]) | stated("v.jsonl", entries, heads, set_hash="0" * 64)
    first = lake.ingest(write_files(tmp_path / "first", stated("a.jsonl", entries, heads)))
    assert (first.exit, counted(first, COUNTS)) == (0, dict(zip(COUNTS, (9, 9, 0, 0, 9), strict=True)))
    assert lake.ingest(write_files(tmp_path / "wrong", wrong)).exit == 1
    told_of = lake.rows("quarantine", "scope", "reasons", "evidence")
    assert [row[:2] for row in told_of] == [("manifest", ("MANIFEST_MISMATCH",))] * 2
    assert sorted(field for field in ("heads", "set_hash") for row in told_of if field in row[2]) == [
        "heads",
        "set_hash",
    ]
    lake.reduce(files=told("keyvalue"))
    before = lake_tables(lake)
    assert before == reference.tables()
    assert prune(lake, reference, random.Random(1)) == [LOG]
    gone = reference.pruned[LOG]
    held = len(entries) - len(gone)
    assert len(lake.rows("ipfs_log_entry")) == held < 9
    # The whole dump again, and as a snapshot of the library: nothing is new, nothing is verified, the manifest agrees.
    again = lake.ingest(tmp_path / "first")
    assert (again.exit, counted(again, COUNTS)) == (0, dict(zip(COUNTS, (9, 0, 9, 0, 0), strict=True)))
    snapshot = lake.ingest(write_files(tmp_path / "s", {"s.json": to_snapshot(Log(LOG, entries))}))
    assert snapshot.counts["new"] == snapshot.counts["signatures_verified"] == 0
    assert snapshot.counts["claims_known"] == 3
    assert len(lake.rows("ipfs_log_entry")) == held
    assert lake.reduce(full=True).members["differences"] == {}
    assert lake_tables(lake) == before
    # A file of the log says that it is not all of it.
    exported = lake.export(tmp_path / "rest.car", LOG)
    [there] = exported.members["sets"]
    assert (exported.exit, there["records"], exported.counts["pruned"]) == (1, held, len(gone))
    with pytest.raises(UsageError) as refused:
        lake.reduce(files=told("feed"))
    assert refused.value.code == "LOG_CONFIG_PRUNED"
    # A clock that lies turns no log to the walk of which entries are gone; the log is named.
    lie = list(lies("v2").values())
    reference.enter(lie)
    lake.ingest(write_files(tmp_path / "lie", {"lie.jsonl": to_lines(lie)}))
    lake.reduce(files=told("keyvalue"))
    assert lake_tables(lake) == reference.tables()
    asked = "SELECT mode, out_of_order_cid, out_of_order_writer FROM ipfs_log_health"
    assert lake.asked(asked) == [("sort", lies("v2")["B"].cid, who("alice").id)]
    [(nodes,)] = lake.asked("SELECT count(*) FROM ipfs_log_node")
    pruned = lake.asked("SELECT record_id FROM ipfs_log_dag WHERE variant IS NULL")
    assert (nodes, {record_id for (record_id,) in pruned}) == (held + 4, {each.hex() for each in gone})
    # Its snapshot is another one, or not there any more: the store that decided cannot be told, so nothing is said of
    # this log.
    before, taken = lake_tables(lake), lake.versions()["snapshot"]
    for harm in (
        "UPDATE snapshot SET carry = concat(carry, X'00')",
        "RESTORE TABLE snapshot TO VERSION AS OF 0",
    ):
        lake.damage(harm)
        undone = lake.reduce(full=True)
        assert (undone.error.code, undone.members["refused"]) == ("SNAPSHOT_LOST", [NAMESPACE])
    assert lake.gc().members["collections"][0]["reason"] == "SNAPSHOT_DAMAGED"
    assert lake_tables(lake) == before
    lake.damage(f"RESTORE TABLE snapshot TO VERSION AS OF {taken}")
    # The version before all of it came: what followed is gone, so nothing is said of this log, and others are reduced.
    before = lake_tables(lake)
    lake.damage("RESTORE TABLE ipfs_log_entry TO VERSION AS OF 0")
    other = chain("other", 2)
    lake.ingest(write_files(tmp_path / "other", {"o.jsonl": to_lines(other)}))
    lost = lake.reduce()
    assert (lost.outcome, lost.error.code, lost.members["refused"]) == ("fault", "ENTRIES_LOST", [NAMESPACE])
    assert lake.reduce(full=True).error.code == "ENTRIES_LOST"
    now = lake_tables(lake)
    assert {table: [row for row in now[table] if NAMESPACE in row] for table in now} == before
    assert ("log:other", 2) in lake.rows("namespace_state", "namespace", "record_count")
    # The same files bring back what is not pruned.
    back = lake.ingest(tmp_path / "first", tmp_path / "lie")
    assert (back.counts["new"], back.counts["known"]) == (held + 4, len(gone))
    assert lake.reduce().exit == 0
    reference.enter(other)
    assert lake_tables(lake) == reference.tables()
    # A parent comes that its child could not follow: by its clock it is after all of them, and the log stays sorted.
    monkeypatch.setattr(few_entries, "FEW_ENTRIES", 0)
    *early, child, last, parent = overtaken()
    beside, names = ReferenceLogs(), told("keyvalue", child.log_id)
    beside.told[child.log_id] = LogConfiguration("keyvalue", ("*",), "config")
    for batch in ([*early, child, last], [parent]):
        beside.enter(batch)
        lake.ingest(write_files(tmp_path / f"late{len(batch)}", {"l.jsonl": to_lines(batch)}))
        lake.reduce(files=names)
        now = lake_tables(lake)
        rows = {table: [row for row in now[table] if child.namespace in row] for table in now}
        assert rows == beside.tables()
        if parent not in batch:
            assert prune(lake, beside, random.Random(1)) == [child.log_id]
            assert beside.pruned[child.log_id].keys() == {early[1].record_id}
    asked = f"SELECT mode, out_of_order_cid FROM ipfs_log_health WHERE namespace = '{child.namespace}'"
    assert lake.asked(asked) == [("sort", child.cid)]

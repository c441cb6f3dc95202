"""Of logs Spark admits what the pure-Python reference admits, row by row and count by count."""

import json
from collections import Counter
from functools import partial

import pytest

from strandline.core.verdict import encode_evidence
from strandline.dialect_api import batch
from strandline.dialects.ipfslog.author import Log, to_blocks, to_car, to_json, to_snapshot
from strandline.dialects.ipfslog.demo import published
from strandline.kernels.judging import Judging
from strandline.pipelines.faults import Faults
from strandline.tables.commits import session_settings
from support.golden import Recorder
from support.ipfslog_cases import LOG, dag, document, entry, lies, who
from support.ipfslog_corpus import tampered, tampered_car
from support.ipfslog_reference import ReferenceLogs, assert_admitted_equal, told
from support.ipfslog_tampering import MADE, PARENT
from support.lakes import write_files
from support.provenance import delivered, sources
from support.random_deliveries import corpus, packed


def ingest(lake, reference, folder, files, **more):
    """One run of both, with equal counts and equal tables; the report of Spark."""
    expected = reference.ingest(files)
    report = lake.ingest(write_files(folder, packed(files)), **more)
    assert told(report) == expected
    assert_admitted_equal(lake, reference)
    return report


def written(folder, name):
    """The path of a file that `ingest` wrote here, compressed or not."""
    [path] = folder.glob(f"{name}*")
    return str(path)


def test_what_upstream_verifies_is_admitted_in_compat_in_one_run_as_in_many(new_lake, tmp_path):
    lake, reference = new_lake(profile="compat", dialect="ipfslog"), ReferenceLogs("compat")
    every = {
        f"{run}/{name}": each for run, files in enumerate(corpus(12, 250, 3)) for name, each in files.items()
    }
    ingest(
        lake,
        reference,
        tmp_path / "in",
        every | {"tampered.jsonl": tampered(), "tampered.car": tampered_car()},
    )
    flags = {flag for [found] in lake.rows("ipfs_log_entry", "flags") for flag in found}
    assert flags >= {
        "FLOAT_SHORT",
        "GO_ESCAPES",
        "KEY_FORM",
        "SIGNATURE_FORM",
        "SIGNATURE_WEAK",
        "CLOCK_NEGATIVE",
    }
    # After all tampered entries, the entries that were altered are admitted.
    clean = [PARENT, entry("parent", "core2"), *MADE.values()]
    identities = [who(name, "core2").record for name in ("alice", "bob")]
    # Also in a session without adaptive execution.
    with session_settings(lake.spark, {"spark.sql.adaptive.enabled": "false"}):
        report = ingest(lake, reference, tmp_path / "clean", {"clean.jsonl": to_blocks(clean, identities)})
    assert (report.counts["rejected"], report.counts["deferred"]) == (0, 0)
    assert {each.record_id for each in clean} <= {row[0] for row in lake.rows("ipfs_log_entry", "record_id")}


def test_copies_of_blocks_are_admitted_once_whether_a_task_judged_them_as_it_read_them_or_left_them(
    new_lake, tmp_path, monkeypatch
):
    limited = partial(Judging, read_bytes=120_000)
    monkeypatch.setattr(batch, "Judging", limited)
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    changed = [json.loads(to_json(made)) | {"payload": "another"} for made in MADE.values()]
    refused = {"changed.jsonl": "\n".join(map(json.dumps, changed)).encode()}
    assert ingest(lake, reference, tmp_path / "changed", refused).counts["new"] == 0
    # No record is stored yet, but there are verdicts: nothing of it is written twice.
    files = refused | {
        f"{run}/{name}": each for run, files in enumerate(corpus(13, 30, 2)) for name, each in files.items()
    }
    copies = {f"again/{name.replace('/', ' ')}": content for name, content in files.items()}
    report = ingest(lake, reference, tmp_path / "in", files | copies | {"tampered.jsonl": tampered()})
    assert report.counts["known"] > report.counts["new"] > 100
    ingest(lake, reference, tmp_path / "more", files)


def test_the_vectors_are_admitted_as_published(new_lake, tmp_path):
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    vectors, core = dag("v2"), dag("core2")
    snapshot = to_snapshot(Log(LOG, vectors.values()))
    report = lake.ingest(write_files(tmp_path / "dag", {"dag.json": snapshot}))
    counts = report.counts
    assert (counts["read"], counts["new"], counts["known"], counts["claims_known"]) == (12, 9, 3, 3)
    assert reference.ingest({"dag.json": snapshot}).new == 9
    cases = document()
    lines = [json.dumps(each) for each in published()] + [to_json(each) for each in lies().values()]
    waiting = ingest(
        lake, reference, tmp_path / "more",
        {"more.jsonl": "\n".join(lines).encode(), "a1.jsonl": to_blocks([core["a1"]])},
    )  # fmt: skip
    assert (waiting.counts["new"], waiting.counts["deferred"]) == (len(lines), 1)
    found = {row[0] for row in lake.rows("ipfs_log_entry", "cid")}
    assert {each["v2"] for each in cases["dag"]["entries"]} | {each["hash"] for each in published()} <= found
    alice = who("alice", "core2").record
    [row] = lake.rows("quarantine", "status", "reasons", "waits_for")
    assert row == ("deferred", ("IDENTITY_MISSING",), (f"identity:{alice.digest.hex()}",))
    car = to_car([core["a1"]], [core["a1"]], [alice])
    admitted = ingest(lake, reference, tmp_path / "car", {"a1.car": car})
    assert {name: admitted.counts[name] for name in ("read", "new", "known", "readmitted")} == {
        "read": 2, "new": 1, "known": 1, "readmitted": 1,
    }  # fmt: skip
    assert lake.rows("quarantine") == []
    brought = delivered(lake, "ipfs_log_entry", "record_id")
    assert Counter(source for _, source, _ in brought) == {
        str(tmp_path / "dag" / "dag.json"): 9, written(tmp_path / "more", "more.jsonl"): len(lines),
        written(tmp_path / "more", "a1.jsonl"): 1,
    }  # fmt: skip
    assert {run for id_, _, run in brought if id_ == core["a1"].record_id} == {admitted.run_id}
    assert (alice.digest, written(tmp_path / "car", "a1.car"), admitted.run_id) in delivered(
        lake, "ipfs_log_identity", "record_id"
    )


def test_what_a_run_was_killed_after_is_found_by_the_next(new_lake, tmp_path):
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    core = dag("core2")
    ingest(lake, reference, tmp_path / "first", {"a.jsonl": to_blocks([core["a1"], core["b1"]])})
    files = {
        "v2.jsonl": to_blocks(dag("v2").values()),
        "ids.jsonl": to_blocks([], [who("alice", "core2").record]),
    }
    reference.ingest(files)

    def killed():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lake.ingest(
            write_files(tmp_path / "second", files), faults=Faults("ingest.ipfs_log_identity", fire=killed)
        )
    assert lake.rows("ipfs_log_entry") == []
    lake.ingest(tmp_path / "second")
    assert_admitted_equal(lake, reference)
    # A killed run has no row in `run`, but its rows have their source and time.
    runs = {run for [run] in lake.rows("run", "run_id")}
    assert {source for source, run in delivered(lake, "ipfs_log_identity") if run not in runs} == {
        str(tmp_path / "second" / "ids.jsonl"), str(tmp_path / "second" / "v2.jsonl"),
    }  # fmt: skip


def test_what_is_known_is_not_merged_again_and_costs_few_jobs(new_lake, spark, tmp_path):
    lake, recorder = new_lake(dialect="ipfslog"), Recorder(spark)
    made = list(dag("v2").values())
    folder = {
        "first": to_blocks(made[:-1]),
        "last": to_blocks(made),
        "manifests": json.dumps(
            [{"id": LOG, "heads": [made[0].cid]}, {"type": "ipfs", "write": ["*"]}]
        ).encode(),
    }
    for name, content in folder.items():
        ending = "json" if name == "manifests" else "jsonl"
        source = write_files(tmp_path / name, {f"a.{ending}": content})
        for run in (name, f"{name} again"):
            recorder.run(run, lake, lambda source=source: lake.ingest(source))
    found = recorder.commands
    assert {name: each["counts"]["new"] for name, each in found.items() if each["counts"]["new"]} == {
        "first": len(made) - 1, "last": 1, "manifests": 2,
    }  # fmt: skip
    assert {name: each["counts"]["claims_known"] for name, each in found.items()} == {
        name: int(name.startswith("manifests")) for name in found
    }
    # Identities and entries, entries, manifests; each with the row of the run. What is known commits only that.
    assert {name: each["commits"] for name, each in found.items()} == {
        "first": 3, "first again": 1, "last": 2, "last again": 1, "manifests": 2, "manifests again": 1,
    }  # fmt: skip
    # Of these a MERGE that only inserts is 8.
    most = {"first": 33, "first again": 11, "last": 27, "last again": 11}
    assert {name: found[name]["jobs"] for name in most if found[name]["jobs"] > most[name]} == {}


def test_files_without_a_block_are_judged_in_an_empty_lake_as_in_any_other(new_lake, tmp_path):
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    [made, *_] = dag("v2").values()
    claim = f'{{"id":{json.dumps(LOG)},"heads":[{json.dumps(made.cid)}],"values":[]}}'.encode()
    for number, files in enumerate(
        [
            {"a.jsonl": b"{"},
            {"b.jsonl": b""},
            {"c.json": claim},
            {"d.jsonl": to_blocks([made])},
            {"e.jsonl": b"["},
        ]
    ):
        ingest(lake, reference, tmp_path / str(number), files)


def test_more_waiting_entries_than_a_log_may_have_are_turned_away(new_lake, tmp_path):
    lake = new_lake(dialect="ipfslog", limits={"deferred_per_namespace": 2})
    made = [entry(number, "core2") for number in range(5)]
    report = lake.ingest(write_files(tmp_path / "in", {"a.jsonl": to_blocks(made)}))
    assert (report.counts["deferred"], report.counts["rejected"]) == (2, 3)
    rows = lake.rows("quarantine", "status", "record_id", "evidence")
    least = sorted(each.record_id for each in made)[:2]
    assert sorted(row[1] for row in rows if row[0] == "deferred") == least
    [limited] = {row[2] for row in rows if row[0] == "rejected"}
    assert limited == encode_evidence({"DEFERRED_LIMIT": {"expected": 2}})
    alice = {"ids.jsonl": to_blocks([], [who("alice", "core2").record])}
    assert lake.ingest(write_files(tmp_path / "ids", alice)).counts["readmitted"] == 2
    lake.ingest(from_quarantine=True)
    assert len(lake.rows("ipfs_log_entry", "record_id")) == 5
    assert sources(lake, "ipfs_log_entry") == {str(tmp_path / "in" / "a.jsonl")}
    assert lake.rows("quarantine") == []

"""Of logs Spark admits what the pure-Python reference admits, row by row and count by count."""

import base64
import gzip
import json
from dataclasses import replace

import pytest

from strandline.core.verdict import encode_evidence
from strandline.dialects import dialect
from strandline.dialects.ipfslog.author import Log, to_blocks, to_car, to_json, to_snapshot
from strandline.dialects.ipfslog.codec import address_text, canonical_cid, dag_pb_block
from strandline.dialects.ipfslog.dialect.demo import demo, published
from strandline.dialects.ipfslog.types import record_id
from strandline.pipelines.faults import Faults
from strandline.tables.manifests import write_manifest
from support.ipfslog_cases import AUTHORS, LOG, dag, document, entry, lies, who
from support.ipfslog_reference import ReferenceLogs, assert_admitted_equal, told
from support.ipfslog_tampering import BLOCKS, CASES, CLAIMS, JSON_CASES, MADE, V0_CASES, V0_JSON
from support.lakes import write_files
from support.random_deliveries import corpus, packed

RECORDS = ("ipfs_log_identity", "ipfs_log_manifest", "ipfs_log_entry", "quarantine")


def ingest(lake, reference, folder, files, **more):
    """One run of both, with equal counts and equal tables; the report of Spark."""
    expected = reference.ingest(files)
    report = lake.ingest(write_files(folder, packed(files)), **more)
    assert told(report) == expected
    assert_admitted_equal(lake, reference)
    return report


def test_spark_and_reference_admit_the_same_of_random_logs_and_of_every_tampered_entry(new_lake, tmp_path):
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    first, second = corpus(11, 250, 2)
    ingest(lake, reference, tmp_path / "first", first)
    second |= {"tampered.jsonl": tampered(), "tampered.car": tampered_car()}
    report = ingest(lake, reference, tmp_path / "second", second)
    assert report.counts["readmitted"] > 0
    assert report.counts["signatures_verified"] > 300
    before = {table: lake.rows(table) for table in RECORDS}
    again = ingest(lake, reference, tmp_path / "second", second)
    assert {table: lake.rows(table) for table in RECORDS} == before
    assert again.counts["new"] == again.counts["identity_verifications"] == 0
    # Of a block that came under several wrong addresses the quarantine tells the least.
    assert again.counts["signatures_verified"] < 10


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


def blocks():
    made = [BLOCKS[name][1](variant) for name, variant in CASES]
    made += [dag_pb_block(json.dumps(V0_JSON | members).encode()) for members, *_ in V0_CASES.values()]
    return made


def tampered() -> bytes:
    """Every entry of the tampering matrix: as a block by itself, under another address, and as JSON."""
    known = [who(name, variant).record.block for name in AUTHORS.values() for variant in ("v2", "core2")]
    lines = [raw(block, canonical_cid(record_id(block))) for block in [*blocks(), *known]]
    own = MADE["v2"]
    for spell, _ in CLAIMS.values():
        claimed = spell(own.cid)
        lines.append(raw(own.block, claimed if isinstance(claimed, str) else address_text(claimed)))
    for members, _ in JSON_CASES.values():
        value = json.loads(to_json(own)) | members
        lines.append(json.dumps({name: member for name, member in value.items() if member is not ...}))
    return "\n".join(lines).encode() + b"\n"


def tampered_car() -> bytes:
    found = [replace(MADE["v2"], block=block, cid=canonical_cid(record_id(block))) for block in blocks()]
    return to_car(found[:2], found[::3])


def raw(block: bytes, claimed: str) -> str:
    return json.dumps({"cid": claimed, "data": base64.b64encode(block).decode()})


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


def test_rejected_rows_judged_again_are_rejected_as_before_and_a_manifest_is_compared(new_lake, tmp_path):
    lake, reference = new_lake(dialect="ipfslog"), ReferenceLogs()
    files = {each.name: each.content for each in demo().files} | {"t.jsonl": tampered()}
    folder = write_files(tmp_path / "in", files)
    ours = dialect("ipfslog")
    write_manifest(
        folder.iterdir(),
        dialect="ipfslog",
        records_in=ours.count_records,
        formats=ours.info.formats,
        name="all",
    )
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(to_blocks(dag("v2").values()))[:-20])
    expected = reference.ingest(files)
    report = lake.ingest(folder)
    assert (report.counts["complete"], report.counts["open_ended"]) == (len(files), 1)
    assert report.counts["read"] > expected.read
    before = lake.rows("quarantine")
    again = lake.ingest(from_quarantine=True)
    assert lake.rows("quarantine") == before
    assert sum(each["rows"] for each in again.members["replayed"].values()) == len(
        [row for row in before if row[5] == "rejected"]
    )
    assert all(each["rows"] == each["unchanged"] for each in again.members["replayed"].values())


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
    assert lake.rows("quarantine") == []

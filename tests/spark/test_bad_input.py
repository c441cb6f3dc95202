"""Input of hostile number, size and name: every record has its fate, memory stays bounded, nothing becomes a path."""

import hashlib
import json
import os
import random
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable

from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, line_hash, render
from strandline.pipelines.faults import Faults
from support.lakes import write_files
from support.memory import peak_of_workers

MIB = 1024 * 1024
NAMES = (
    "../../x", "x' OR 1=1; --", "__HIVE_DEFAULT_PARTITION__", "bucket=3", "a\nb", "\U0001f30a", "%2F", "a/b=c", "..",
    "null", "ж" * 64, "\u202e" + "a" * 63, "`", "${env:HOME}", "x" * 70_000,
)  # fmt: skip
OURS = re.compile(r"bucket=(\d|1[0-5])|_delta_log|_staged_commits")
"""The folders that a lake may have inside its tables."""


def data_files(lake, table: str) -> list[Path]:
    return [path for path in (lake.path / table).rglob("*.parquet") if "_delta_log" not in path.parts]


@pytest.mark.parametrize("count", [3_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_thousands_of_files_of_one_line_are_judged_in_one_run(new_lake, tmp_path, count):
    lake = new_lake()
    ids = [hashlib.sha256(str(i).encode()).hexdigest() for i in range(count)]
    files = {f"{i}": (id_[:-1] if i % 3 == 0 else id_).encode() for i, id_ in enumerate(ids)}
    report = lake.ingest(write_files(tmp_path / "in", files))
    bad = len(range(0, count, 3))
    assert {name: report.counts[name] for name in ("read", "new", "known", "rejected", "deferred")} == {
        "read": count, "new": count - bad, "known": 0, "rejected": bad, "deferred": 0,
    }  # fmt: skip
    assert report.reasons == {"FIRST_LINE_MALFORMED": bad}
    assert report.namespaces == count - bad
    assert {name for (name,) in lake.rows("node_journal_line", "namespace")} == {
        f"node:{id_}" for i, id_ in enumerate(ids) if i % 3
    }
    sources = {
        (Path(row["source"]).name, bytes(row["raw"]))
        for row in lake.store().read("quarantine").select("source", "raw").collect()
    }
    assert sources == {(f"{i}", ids[i][:-1].encode()) for i in range(0, count, 3)}
    assert max(len(data_files(lake, table)) for table in ("node_journal_line", "quarantine")) <= 200


def test_hostile_names_of_nodes_and_files_become_rows_and_nothing_else(new_lake, tmp_path):
    lake = new_lake()
    good = list(synthetic(1, 4))
    frames = [json.dumps({"node": name, "journal": {"since": name, "entries": [name]}}) for name in NAMES]
    files = {
        "frames.jsonl": "\n".join(frames).encode() + b"\n",
        **{f"text-{at}": name.encode() + b"\n" + b"\n".join(good[1:]) for at, name in enumerate(NAMES)},
    }
    folder = write_files(tmp_path / "in", files)
    of_files = [name for name in NAMES if "/" not in name and name != ".." and len(name.encode()) < 200]
    for name in of_files:
        (folder / name).write_bytes(render(good))
    undecodable = os.fsencode(folder) + b"/\xff\xfe"
    Path(os.fsdecode(undecodable)).write_bytes(render(good))
    before = {path for path in tmp_path.iterdir() if path != lake.path}
    report = lake.ingest(folder)
    late = []
    lake.reduce(faults=Faults("reduce.before_state", fire=lambda: late.append(datetime.now(UTC))))
    states = DeltaTable(lake.path / "namespace_state").to_pyarrow_table(columns=["reduced_at"])
    assert all(each >= late[0] for each in states["reduced_at"].to_pylist())
    hidden = [name for name in of_files if name.startswith("_")]
    journals = len(of_files) - len(hidden) + 1
    assert report.reasons == {"BAD_NODE": len(NAMES), "FIRST_LINE_MALFORMED": len(NAMES)}
    assert report.members["damaged_files_total"] == 1 + len(NAMES)
    first = report.members["damaged_files"][0]
    assert (first["rejected"], first["reasons"], first["source_offset"]) == (len(NAMES), "BAD_NODE", 0)
    assert (report.counts["read"], report.counts["new"]) == (2 * len(NAMES) + 4 * journals, 4)
    assert lake.rows("namespace_state", "namespace") == [(f"node:{good[0].decode()}",)]
    rows = lake.rows("quarantine", "reasons", "evidence")
    evidence = [json.loads(text) for reasons, text in rows if reasons == ("BAD_NODE",)]
    shown = {name if len(name) <= 200 else name[:200] + ".. (cut)" for name in NAMES}
    assert {each["BAD_NODE"]["actual"] for each in evidence} == shown
    assert {path for path in tmp_path.iterdir() if path != lake.path} == before
    folders = {path.name for path in lake.path.rglob("*") if path.is_dir()}
    tables = {path.name for path in lake.path.iterdir()}
    assert all(OURS.fullmatch(name) for name in folders - tables)
    names = {path.name for path in lake.path.rglob("*") if path.is_file()}
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", name) for name in names)


@pytest.mark.parametrize(
    "size", [64 * MIB, pytest.param(1024 * MIB, marks=pytest.mark.slow)], ids="{:,} bytes".format
)
def test_random_bytes_are_one_row_or_bad_lines_in_bounded_memory(new_lake, tmp_path, size):
    lake, rng = new_lake(), random.Random(5)
    node = synthetic_id("node", 3).encode()
    lines = node + b"\n" + rng.randbytes(MIB // 8).replace(b"\r", b"\n")
    small = {"small": b"\x00" + rng.randbytes(1000), "lines": lines}
    with peak_of_workers(lake.spark) as usual:
        lake.ingest(write_files(tmp_path / "small", small))
    (tmp_path / "large").mkdir()
    first = b"\x00" + rng.randbytes(MIB - 1)
    digest = hashlib.sha256(first)
    with open(tmp_path / "large" / "noise", "wb") as file:
        file.write(first)
        for _ in range(MIB, size, MIB):
            block = rng.randbytes(MIB)
            digest.update(block)
            file.write(block)
    with peak_of_workers(lake.spark) as peak:
        report = lake.ingest(tmp_path / "large")
    assert usual.bytes > 0
    # Far less than the input: a worker that kept all of it would hold 64 MiB more.
    assert peak.bytes - usual.bytes < 24 * MIB
    assert (report.counts["read"], report.reasons) == (1, {"FIRST_LINE_MALFORMED": 1})
    [row] = lake.store().read("quarantine").where("NOT raw_whole").collect()
    whole = (row["raw_bytes"], bytes(row["raw_sha256"]), bytes(row["raw"]))
    assert whole == (size, digest.digest(), first[: 64 * 1024])
    # What follows the last LF is a line if it is anything.
    bad = set(lines.split(b"\n")[1:]) if not lines.endswith(b"\n") else set(lines.split(b"\n")[1:-1])
    held = {bytes(raw) for (raw,) in lake.rows("quarantine", "raw") if raw in bad}
    assert held == bad


@pytest.mark.parametrize("count", [3_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_one_file_holds_the_frames_of_many_journals(new_lake, tmp_path, count):
    lake = new_lake()
    frames, lines = [], {}
    for number in range(count):
        node, second = synthetic(number, 2)
        frames.append(batch(node.decode(), node.decode(), [second]))
        lines[f"node:{node.decode()}"] = line_hash(second)
    report = lake.ingest(write_files(tmp_path / "in", {"all.jsonl": b"\n".join(frames)}))
    assert (report.counts["read"], report.counts["new"], report.namespaces) == (count, count, count)
    lake.reduce()
    tips = dict(lake.rows("node_journal", "namespace", "tip_hash"))
    assert tips == lines
    assert max(len(data_files(lake, table)) for table in ("node_journal_line", "node_journal")) <= 200


@pytest.mark.parametrize("dialect", ["sdmp", "ipfslog"])
def test_files_that_are_gone_or_no_files_by_now_are_rejected_and_named(new_lake, tmp_path, dialect):
    from strandline.dialects import dialect as found_dialect
    from strandline.pipelines.ingest_input import IngestRequest, find_input

    lake = new_lake(dialect=dialect)
    ending = {"sdmp": "", "ipfslog": ".jsonl"}[dialect]
    bad = [f"{name}{ending}" for name in ("gone", "link", "pipe", "unreadable")]
    content = {"sdmp": render(list(synthetic(1, 4))), "ipfslog": b"\n"}[dialect]
    folder = write_files(tmp_path / "in", {**dict.fromkeys(bad, content), f"good{ending}": content})
    secret = write_files(tmp_path, {"secret": content}) / "secret"
    request = IngestRequest(sources=(str(folder),))
    found = find_input(found_dialect(dialect), request, lake.settings)
    for name in bad:
        (folder / name).unlink()
    (folder / bad[1]).symlink_to(secret)
    os.mkfifo(folder / bad[2])
    (folder / bad[3]).mkdir()
    report = lake.ingest(folder, found=found)
    counts = report.counts
    assert counts["read"] == counts["new"] + counts["known"] + counts["rejected"] + counts["deferred"]
    assert (counts["rejected"], counts["new"]) == (4, 4 if dialect == "sdmp" else 0)
    assert report.reasons == {"FILE_UNREADABLE": 4}
    rows = lake.rows("quarantine", "scope", "source", "raw", "namespace")
    expected = [("record", str(folder / name), os.fsencode(folder / name), None) for name in bad]
    assert rows == sorted(expected, key=repr)
    if dialect == "sdmp":
        again = lake.ingest(from_quarantine=True, reason="FILE_UNREADABLE")
        assert again.counts["read"] == 0

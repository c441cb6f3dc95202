"""A stream ends with the tables of batch runs, however its input was cut, killed or replayed."""

import os
import random
import re
import shutil
import time
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

import pytest
from deltalake import DeltaTable

from strandline.core.errors import FaultError, UsageError
from strandline.dialects.ipfslog.author import to_blocks
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.pipelines import micro_batches, stream
from strandline.pipelines.faults import Faults
from strandline.pipelines.run_context import NoProgress
from support.agreement import assert_held_equal, assert_peers_equal, assert_reduced_equal
from support.ipfslog_cases import entry
from support.kills import KilledBatchError, batch_killed_at
from support.lakes import write_files
from support.log_lakes import file_of, told
from support.own_lake import OwnLake
from support.own_runs import own_run
from support.random_journals import corpus
from support.random_own import local_nodes, runs

ODD = ("a b%20c.journal", "ж+#[1].journal", "sub:x/2026-11-22T06:30:00Z.journal")
RATE_AND_LAG = re.compile(r"batch 2: [\d,]+ files, ([\d,]+) records/s, lag ([\d,]+) s; so far ")
LAST_YEAR = time.time() - 400 * 86_400


def test_a_stream_cut_stopped_and_replayed_ends_with_the_tables_of_batch_runs(
    new_lake, monkeypatch, tmp_path
):
    first, second = corpus(seed=31, journals=12, runs=2)
    odd = {name: render(synthetic(500 + at, 5)) for at, name in enumerate(ODD)}
    poisoned = {
        "poisoned.journal": b"\x1f\x8b\x08\x00 no gzip at all, and longer than that",
        "_hidden": b"x",
        "empty": b"",
    }
    landing = write_files(tmp_path / "landing", {f"1-{name}": data for name, data in first.items()})
    streamed, batch = new_lake("streamed"), new_lake("batch")
    files = len(first)

    report = streamed.stream(landing, max_files=-(-files // 2))
    assert (report.outcome, report.counts["files"], report.counts["batches"]) == ("ok", files, 2)
    outside = write_files(tmp_path / "outside", {"x": render(synthetic(900, 3))})
    write_files(landing, {f"2-{name}": data for name, data in second.items()} | odd | poisoned)
    (landing / "link.journal").symlink_to(outside / "x")
    os.utime(landing / ODD[0], (LAST_YEAR, LAST_YEAR))
    for point in ("ingest.records", "stream.landed"):
        with pytest.raises(KilledBatchError):
            streamed.stream(landing, faults=batch_killed_at(point))
    notes, began = [], time.monotonic()
    with monkeypatch.context() as noted:
        noted.setattr(NoProgress, "note", lambda _, text: notes.append(text))
        report = streamed.stream(landing)
    longest = time.monotonic() - began
    # The oldest file of the batch tells how far it is behind.
    assert 0 <= report.members["lag_seconds"] - (time.time() - longest - LAST_YEAR) <= longest
    [told] = [text for text in notes if text.startswith("batch 2: ")]
    rate, lag = (int(each.replace(",", "")) for each in RATE_AND_LAG.match(told).groups())
    assert abs(lag - report.members["lag_seconds"]) < 0.6
    assert report.counts["read"] / longest - 1 <= rate < report.counts["read"]
    assert report.counts["files"] == len(second) + len(odd) + 2
    assert report.reasons["CONTAINER_DAMAGED"] == report.reasons["PATH_REFUSED"] == 1

    batch.ingest(landing)
    batch.reduce()
    assert streamed.tables() == batch.tables()

    idle = streamed.stream(landing)
    assert (idle.counts["batches"], idle.counts["read"], idle.members["lag_seconds"]) == (0, 0, None)
    shutil.rmtree(streamed.path / "_checkpoints")
    replayed = streamed.stream(landing)
    assert replayed.counts["files"] == files + len(second) + len(odd) + 2
    assert (replayed.counts["new"], replayed.tables["node_journal_line"].inserted) == (0, 0)
    assert streamed.tables() == batch.tables()


def test_a_checkpoint_of_another_lake_is_refused_and_a_source_that_is_no_folder_too(new_lake, tmp_path):
    landing = write_files(tmp_path / "landing", {})
    landing.mkdir()
    one, other = new_lake("one"), new_lake("other")
    # Both are copies of one empty lake: the second is made anew to be another.
    shutil.rmtree(other.path)
    checkpoint = str(tmp_path / "checkpoint")
    assert one.stream(landing, checkpoint=checkpoint).counts["batches"] == 0
    with pytest.raises(FaultError) as refused:
        other.stream(landing, checkpoint=checkpoint)
    assert refused.value.code == "CHECKPOINT_FOREIGN"
    assert checkpoint in refused.value.message
    with pytest.raises(UsageError) as refused:
        one.stream(Path(write_files(tmp_path / "file", {"x": b""})) / "x")
    assert refused.value.code == "SOURCE_NOT_A_FOLDER"
    with pytest.raises(UsageError) as refused:
        one.stream(tmp_path / "nowhere")
    assert refused.value.code == "SOURCE_MISSING"


def test_a_stream_that_runs_on_ends_with_a_fault_when_its_folder_goes(new_lake, tmp_path):
    lake, landing = new_lake(), write_files(tmp_path / "landing", {"a.journal": render(synthetic(1, 5))})

    def gone() -> None:
        shutil.rmtree(landing)

    with pytest.raises(FaultError) as stopped:
        lake.stream(landing, every=0.2, faults=Faults("stream.reduced", fire=gone))
    assert stopped.value.code == "SOURCE_GONE"
    assert str(landing) in stopped.value.message
    assert lake.rows("node_journal", "tip_n") == [(5,)]


def test_a_stream_that_is_asked_to_stop_ends_behind_its_batch_and_the_next_start_goes_on_there(
    new_lake, tmp_path, monkeypatch
):
    lake, landing = new_lake(), write_files(tmp_path / "landing", {"a.journal": render(synthetic(1, 5))})
    asked = []

    @contextmanager
    def signals():
        yield lambda: bool(asked)

    def ask() -> None:
        asked.append(True)
        write_files(landing, {"b.journal": render(synthetic(1, 9))})

    # In the midst of the batch: it is still reduced. The stream does not look before the next one is due.
    with monkeypatch.context() as seldom:
        seldom.setattr(stream, "WATCH_SECONDS", 600)
        report = lake.stream(landing, every=0.2, signals=signals, faults=Faults("stream.landed", fire=ask))
    assert (report.exit, report.counts["batches"]) == (0, 1)
    assert lake.rows("node_journal", "tip_n") == [(5,)]

    def ask_and_fail() -> None:
        asked.append(True)
        raise FaultError("WRITE_CONFLICT", "another writer was faster", "run it again")

    asked.clear()
    with pytest.raises(FaultError, match="another writer"):
        lake.stream(landing, every=0.2, signals=signals, faults=Faults("stream.landed", fire=ask_and_fail))
    # It looks while the batch is at work, and ends when Spark has stored that the batch is done.
    monkeypatch.setattr(stream, "WATCH_SECONDS", 0.01)
    asked.clear()
    faults = Faults("stream.landed", fire=lambda: asked.append(True))
    assert lake.stream(landing, every=0.2, signals=signals, faults=faults).counts["known"] == 9
    assert lake.rows("node_journal", "tip_n") == [(9,)]
    assert lake.stream(landing).counts["batches"] == 0

    # Killed before the reduction, and no batch comes again: the next start reduces, a further one has nothing to.
    write_files(landing, {"c.journal": render(synthetic(1, 12))})
    with pytest.raises(KilledBatchError):
        lake.stream(landing, faults=batch_killed_at("stream.landed"))
    shutil.rmtree(landing)
    landing.mkdir()
    assert lake.rows("node_journal", "tip_n") == [(9,)]
    reductions = [lake.stream(landing, checkpoint=str(tmp_path / "new")) for _ in range(2)]
    assert [(each.counts["read"], "node_journal" in each.tables) for each in reductions] == [
        (0, True),
        (0, False),
    ]
    assert lake.rows("node_journal", "tip_n") == [(12,)]


def test_the_small_files_of_many_batches_are_compacted_and_no_row_changes(new_lake, tmp_path, monkeypatch):
    early, late = (
        {f"{at}.journal": render(synthetic(at, 3)) for at in each} for each in (range(4), range(4, 6))
    )
    landing = write_files(tmp_path / "landing", early)
    eager = {"maintain": {"small_files": 2}}
    often, never = (
        new_lake(name, buckets=1, stream={"compact_every": every}, **eager)
        for name, every in (("often", 2), ("never", 0))
    )

    def live(lake, table="node_journal_line"):
        return len(DeltaTable(str(lake.path / table)).file_uris())

    def lost(*_, **__):
        raise FaultError("WRITE_CONFLICT", "another writer was faster", "run it again")

    with pytest.raises(KilledBatchError):
        often.stream(landing, max_files=1, faults=batch_killed_at("stream.compacted"))
    assert live(often) == 1
    # Another writer is faster each time: the stream goes on.
    with monkeypatch.context() as beaten:
        beaten.setattr(micro_batches, "compact_small", lost)
        assert often.stream(landing, max_files=1).exit == 0
    assert live(often) == 1 + 2
    write_files(landing, late)
    report = often.stream(landing, max_files=1)
    assert report.counts["compacted_files"] > report.counts["written_files"] > 0
    assert (live(often), live(often, "run") < len(often.rows("run"))) == (1, True)
    plain = never.stream(landing)
    assert (plain.counts["new"], plain.counts.get("compacted_files")) == (18, None)
    assert often.tables() == never.tables()


def test_a_stream_writes_own_journals_as_the_reference_does_batch_by_batch(new_lake, tmp_path):
    own = local_nodes(random.Random(8), 60, strangers=9)
    lake, reference, landing = new_lake(), OwnLake(own.values()), tmp_path / "landing"
    for number, each in enumerate(runs(9, own, 9, count=2)):
        expected = reference.run(each.files)
        write_files(landing / str(number), each.files)
        report = lake.stream(landing, options=own_run(own))
        assert report.members["stopped"] == {node: list(codes) for node, codes in expected.stopped.items()}
        assert (report.counts["batches"], report.exit) == (1, bool(expected.stopped))
        assert report.counts["authored"] == sum(expected.lines.values())
        assert [report.counts[name] for name in ("read", "new")] == list(astuple(expected.counts))[:2]
    assert expected.stopped
    assert_held_equal(lake, reference)
    assert_reduced_equal(lake, reference)
    assert_peers_equal(lake, reference)


@pytest.mark.slow
def test_what_a_stream_is_told_of_logs_holds_for_all_its_batches_and_later_ones(new_lake, tmp_path):
    lake, landing = new_lake(dialect="ipfslog"), tmp_path / "landing"
    files = file_of({"strand": told("keyvalue")})
    made = [entry({"op": "PUT", "key": f"k{time}", "value": time}, time=time) for time in (1, 2)]
    write_files(landing, {"1.jsonl": to_blocks(made[:1])})
    assert lake.stream(landing, files=files).counts["batches"] == 1
    write_files(landing, {"2.jsonl": to_blocks(made[1:])})
    lake.stream(landing)
    assert lake.rows("ipfs_log_document", "document_key", "value_json") == [("k1", "1"), ("k2", "2")]

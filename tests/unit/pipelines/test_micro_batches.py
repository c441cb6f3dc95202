"""What the report of a stream says of its batches."""

import os
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from pyspark.errors import UnsupportedOperationException
from rich.console import Console

from strandline.cli import show
from strandline.core.errors import FaultError
from strandline.dialects import dialect
from strandline.pipelines import micro_batches
from strandline.pipelines.faults import Faults
from strandline.pipelines.micro_batches import MicroBatchOptions, MicroBatchRun
from strandline.pipelines.report import EXIT_CODES, Report, ReportError, TableChange
from strandline.pipelines.run_context import NoProgress, RunContext
from strandline.tables.location import Location
from strandline.tables.store import TableStore
from strandline.tables.stream import MicroBatch
from support.delta_rs_lake import empty_lake, state, write

LINES = "node_journal_line"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
COUNTS = {"read": 2, "new": 2, "known": 0, "rejected": 0, "deferred": 0, "readmitted": 0}
REFUSED = ReportError("REDUCE_LIMIT", "The log a was not reduced.", "Raise the limit.")


class Written:
    """Keeps the result that the row of the run is made of."""

    def __call__(self, store, context, result):
        self.result = result
        return context.report(
            "lake", outcome=result.outcome, counts=result.counts, reasons=result.reasons, members=result.members
        )  # fmt: skip


def context(command):
    return RunContext("run", command, "0", NOON, faults=Faults(), elapsed=lambda: 4.0, progress=NoProgress())


@pytest.fixture
def stream(monkeypatch, tmp_path):
    """A function that runs batches whose reductions report what is given, and returns the result and the report."""
    written = Written()
    info = SimpleNamespace(name="ipfslog", formats={})
    store = SimpleNamespace(of_run=lambda run_id: store)
    settings = SimpleNamespace(
        stream=SimpleNamespace(compact_every=0), limits=SimpleNamespace(walk_entries=1)
    )
    (tmp_path / "1.jsonl").write_bytes(b"")

    def run(*reductions, oldest=NOON, members=()):
        left, of_ingest, touched = iter(reductions), iter(members), iter((2, 3))
        monkeypatch.setattr(
            micro_batches.ingest,
            "run",
            lambda *_: Report(
                "ingest", "run", counts=COUNTS, tables={"entries": TableChange(7, 2)}, members=next(of_ingest, {}),
                namespaces=next(touched, 1),
            ),
        )  # fmt: skip
        monkeypatch.setattr(micro_batches.reduce, "run", lambda *_: next(left))
        monkeypatch.setattr(micro_batches, "record_run", written)
        batches = MicroBatchRun(
            store, SimpleNamespace(info=info), MicroBatchOptions(None, format="jsonl"), settings, context("stream"),
            context,
        )  # fmt: skip
        for number in range(len(reductions)):
            path = os.fsencode(tmp_path / "1.jsonl")
            batches.process_batch(MicroBatch(number, oldest, (path,)))
        report = batches.report("here")
        return written.result, report

    return run


def reduction(outcome="ok", **more):
    return Report("reduce", "run", outcome=outcome, exit=EXIT_CODES[outcome], **more)


def test_a_stream_says_why_a_reduction_of_a_batch_ended_with_a_fault(stream):
    damaged = {"ipfs_log_entry": ["log:b"]}
    result, report = stream(
        reduction(),
        reduction("fault", error=REFUSED),
        reduction("found", members={"damaged": damaged}),
        reduction("fault", error=ReportError("ENTRIES_LOST", "later", "later")),
    )
    assert (result.outcome, result.error, result.members["damaged"]) == ("fault", REFUSED, damaged)
    console = Console(width=200)
    with console.capture() as shown:
        show.stream(console, Report(**{**vars_of(report), "error": result.error}))
    text = shown.get()
    assert "The log a was not reduced. Raise the limit." in text
    assert "columns of ipfs_log_entry do not follow from the records of log:b" in text
    assert "checkpoint: here" in text


def test_a_stream_names_what_any_of_its_batches_found_damaged_or_stopped(stream):
    many = {"ipfs_log_head": [f"log:{number}" for number in range(12)]}
    result, report = stream(
        reduction("found", members={"damaged": {"ipfs_log_entry": ["log:b"], "ipfs_log_state": ["log:a"]}}),
        reduction("found", members={"damaged": {"ipfs_log_entry": ["log:a", "log:b"]}}),
        reduction("found", members={"damaged": many, "damaged_total": {"ipfs_log_head": 345}}),
        reduction(),
        members=({"stopped": {"n": ["OWN_FORKED"]}}, {"stopped": {"m": ["OWN_BEHIND"]}}),
    )
    assert result.outcome == "found"
    assert result.members["damaged"] == {
        "ipfs_log_entry": ["log:b", "log:a"],
        "ipfs_log_state": ["log:a"],
        "ipfs_log_head": many["ipfs_log_head"][:10],
    }
    # Batches may find the same ones: at least so many.
    assert result.members["damaged_total"] == {
        "ipfs_log_entry": 2, "ipfs_log_state": 1, "ipfs_log_head": 345
    }  # fmt: skip
    assert report.members["stopped"] == {"n": ["OWN_FORKED"], "m": ["OWN_BEHIND"]}


def vars_of(report):
    return {name: getattr(report, name) for name in report.__dataclass_fields__}


def test_counts_and_commits_of_batches_are_summed_and_the_lag_is_that_of_the_last_one(stream):
    result, _ = stream(reduction(), reduction(), oldest=NOON - timedelta(seconds=30))
    assert (result.counts["batches"], result.counts["new"]) == (2, 4)
    assert {table: (each.version, each.inserted) for table, each in result.written.items()} == {
        "entries": (7, 4)
    }
    assert (result.outcome, result.error, "damaged" in result.members) == ("ok", None, False)
    assert result.members["lag_seconds"] == 34.0


def test_a_stream_tells_how_many_namespaces_the_largest_of_its_batches_touched(stream):
    assert [stream(*(reduction() for _ in range(batches)))[0].namespaces for batches in (1, 2, 3)] == [
        2,
        3,
        3,
    ]
    assert stream(reduction(namespaces=7), reduction())[0].namespaces == 7


NOTHING_ASKED = MicroBatchOptions(None)


def empty_batches(every, asked=NOTHING_ASKED):
    info = SimpleNamespace(name="ipfslog", formats={"jsonl": (".jsonl",)})
    settings = SimpleNamespace(
        stream=SimpleNamespace(compact_every=every), limits=SimpleNamespace(walk_entries=1),
        maintain=SimpleNamespace(small_bytes=1, small_files=2, target_bytes=3),
    )  # fmt: skip
    store = SimpleNamespace(stored_bytes=lambda table: table == "run", of_run=lambda _: store)
    return MicroBatchRun(store, SimpleNamespace(info=info), asked, settings, context("stream"), context)


@pytest.mark.parametrize(("every", "expected"), [(0, []), (1, [0, 1, 2, 3, 4, 5]), (3, [2, 5]), (7, [])])
def test_small_files_are_compacted_after_so_many_batches_also_over_restarts(every, expected, monkeypatch):
    compacted, number = [], 0
    monkeypatch.setattr(
        micro_batches, "compact_small", lambda *_, **__: (compacted.append(number), (0, 0))[1]
    )
    for first in (0, 4):
        batches = empty_batches(every)
        for number in range(first, min(first + 4, 6)):
            batches.process_batch(MicroBatch(number, None))
    assert compacted == expected


def test_only_a_conflict_lets_small_files_stay(monkeypatch):
    def fails(code):
        def compact(*_, **__):
            raise FaultError(code, "why", "next")

        monkeypatch.setattr(micro_batches, "compact_small", compact)
        batches = empty_batches(1)
        batches.process_batch(MicroBatch(0, None))
        return batches.close()

    assert fails("WRITE_CONFLICT") == 0
    with pytest.raises(FaultError):
        fails("TABLE_DAMAGED")


def test_a_table_that_only_its_catalog_compacts_is_left_to_it_and_not_tried_again(monkeypatch):
    tried, notes = [], []

    def compact(*_, **__):
        tried.append(1)
        raise UnsupportedOperationException(
            "[DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION] OPTIMIZE is blocked by the catalog."
        )

    monkeypatch.setattr(micro_batches, "compact_small", compact)
    monkeypatch.setattr(NoProgress, "note", lambda _, text: notes.append(text))
    batches = empty_batches(1)
    for number in range(3):
        batches.process_batch(MicroBatch(number, None))
    assert (batches.close(), len(tried)) == (2, 1)
    assert [each for each in notes if "catalog" in each] == [
        "the catalog alone compacts 1 tables: they are left to it"
    ]


@pytest.mark.parametrize(
    ("left", "files", "expected"), [(False, {}, 0), (True, {}, 1), (False, {"a": None}, 1)]
)
def test_a_stream_first_reduces_what_a_killed_one_left_or_what_new_options_ask_for(
    left, files, expected, tmp_path, monkeypatch
):  # fmt: skip
    empty_lake(tmp_path)
    asked = []

    def reduce(store, dialects, request, settings, context):
        asked.append(dict(request.files))
        if store.stored_bytes(LINES):
            write(tmp_path, "namespace_state", [state("node:a", reduced_version=store.version(LINES))])
        return reduction()

    monkeypatch.setattr(micro_batches.reduce, "run", reduce)
    settings = SimpleNamespace(limits=SimpleNamespace(walk_entries=1))

    def begin(files):
        # Without a session: whatever would ask Spark fails.
        store = TableStore(None, Location.lake(str(tmp_path)), None, run_id="r")
        options = MicroBatchOptions(None, files=files)
        MicroBatchRun(store, dialect("sdmp"), options, settings, context("stream"), context).begin()

    if left:
        write(tmp_path, LINES, [{"namespace": "node:a", "profile": "0.9"}])
    begin(files)
    assert asked == [files] * expected
    begin({})
    assert len(asked) == expected
    write(tmp_path, LINES, [{"namespace": "node:a", "profile": "0.9"}])
    for _ in range(2):
        begin({})
    assert len(asked) == expected + 1


def test_a_closed_stream_begins_no_batch_and_says_that_one_came():
    batches = empty_batches(0)
    assert batches.close() == -1
    with pytest.raises(Exception, match=r"^$"):
        batches.process_batch(MicroBatch(0, None))
    assert (batches.has_refused, batches.failed, batches.close()) == (True, None, -1)


def test_each_batch_is_told_with_its_rate_and_lag_and_objects_are_no_files_of_this_machine(
    stream, monkeypatch, tmp_path
):
    notes, requests = [], []
    monkeypatch.setattr(NoProgress, "note", lambda _, text: notes.append(text))
    result, _ = stream(reduction(), reduction(), oldest=None)
    assert (result.dialect, result.members["lag_seconds"]) == ("ipfslog", None)
    assert [note.partition("; ")[0] for note in notes] == [
        f"batch {at}: 1 files, 2,000 records/s" for at in (0, 1)
    ]
    assert notes[1].endswith("so far 4 read, 4 new, 0 rejected")
    monkeypatch.setattr(micro_batches.ingest, "run", lambda *given: requests.append(given[2]) or Report(
        "ingest", "r", counts=COUNTS, reasons={"BAD": 1}
    ))  # fmt: skip
    monkeypatch.setattr(micro_batches.reduce, "run", lambda *given: requests.append(given[2]) or reduction())
    batches = empty_batches(0, asked=MicroBatchOptions(b"/w", options="given"))
    (tmp_path / "a.jsonl").touch()
    path, uri = bytes(tmp_path / "a.jsonl"), b"s3://bucket/b.jsonl"
    batches.process_batch(MicroBatch(7, NOON + timedelta(days=1), (path,), {uri: 3}))
    ingested, reduced = requests
    assert (ingested.sources, ingested.listed, ingested.within) == ((os.fsdecode(path),), {uri: 3}, b"/w")
    assert (ingested.options, reduced.options, reduced.files) == ("given", {"ipfslog": "given"}, {})
    assert notes[-1].startswith("batch 7: 2 files, ")
    assert ", lag 0 s; so far 2 read" in notes[-1]
    assert batches.close() == 7
    monkeypatch.setattr(micro_batches, "record_run", lambda _, __, result: result)
    result = batches.report("c")
    assert result.counts == COUNTS | {"batches": 1, "files": 2, "gone": 0, "formless": 0}
    assert (result.reasons, result.members["checkpoint"], result.members["lag_seconds"]) == (
        {"BAD": 1},
        "c",
        0.0,
    )


def test_a_file_whose_name_shows_no_format_is_left_and_counted(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    batches = empty_batches(0)
    batches.process_batch(MicroBatch(0, None, (bytes(tmp_path / "a.txt"), bytes(tmp_path / "gone.jsonl"))))
    assert {name: batches._counts[name] for name in ("files", "formless", "gone", "batches")} == {
        "files": 0, "formless": 1, "gone": 1, "batches": 1,
    }  # fmt: skip

"""How a run that reduced ends: what the reduction found is in the outcome of `reduce` and of `sync`."""

import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from rich.console import Console

from strandline.cli import show
from strandline.config.layers import defaults
from strandline.contracts.ddl import DELETION_VECTORS_PROPERTY
from strandline.dialect_api.refusals import Refusal, Refused
from strandline.dialects import dialect
from strandline.dialects.sdmp.author import LocalNodes
from strandline.pipelines import reduce, sync_journals
from strandline.pipelines.local_journals import WrittenJournals
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.reduce_result import ReduceResult, with_reduction
from strandline.pipelines.reducer_options import refused_members
from strandline.pipelines.report import EXIT_CODES, Report, ReportError, SomeNamespaces, found_members
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult

ERROR = ReportError("ROWS_LOST", "message", "next")
DAMAGED = {"damaged": {"peer_status": SomeNamespaces(("node:x",), 1)}}
LOGS = (Refusal("log:a", "log:a has 9 entries"), Refusal("log:b", "log:b"))
REFUSED = {"refused": {"ipfslog": Refused(LOGS, 2, None)}}
CASES = [
    ({}, "ok", None, "ok", None),
    ({}, "found", None, "found", None),
    ({}, "fault", None, "fault", None),
    (DAMAGED, "ok", None, "found", None),
    (DAMAGED, "fault", None, "fault", None),
    ({"differences": {"namespace_state": SomeNamespaces(("node:x",), 1)}}, "ok", None, "found", None),
    (REFUSED, "ok", None, "fault", "REDUCE_LIMIT"),
    (REFUSED | DAMAGED, "found", None, "fault", "REDUCE_LIMIT"),
    (REFUSED, "fault", ERROR, "fault", "ROWS_LOST"),
]


@pytest.mark.parametrize(("done", "before", "error", "outcome", "code"), CASES)
def test_the_worse_outcome_holds_and_the_error_of_other_work_is_told_first(
    done, before, error, outcome, code
):
    found = with_reduction(RunResult(outcome=before, error=error), ReduceResult(**done))
    assert (found.outcome, found.error and found.error.code) == (outcome, code)


def test_namespaces_over_a_limit_are_one_error():
    found = with_reduction(RunResult(), ReduceResult(**REFUSED))
    assert found.error.message == "log:a has 9 entries 1 more namespaces were not reduced."


def test_refused_namespaces_that_no_run_names_are_counted():
    done = ReduceResult(refused={"ipfslog": Refused(LOGS, 100_000, None), "aura": Refused(LOGS[:1], 1, None)})
    message = with_reduction(RunResult(), done).error.message
    assert message == "log:a has 9 entries 100,000 more namespaces were not reduced."


class Store:
    """A lake of which only the row of the run is written."""

    location = SimpleNamespace(describe=lambda: "lake", is_local=lambda: False)
    repaired_versions: Mapping[str, int] = {"namespace_state": 3}

    def __init__(self):
        self.rows = []
        self.designs = []

    def version(self, table: str) -> int:
        return 0

    def append_run(self, row, started_at):
        self.rows.append(row)


@pytest.fixture
def ended(monkeypatch):
    """The report and the row of a command whose reduction did so."""

    def run(command: str, done: ReduceResult, stopped=(), settings=None):
        settings = settings or defaults()
        store, context = Store(), RunContext("r", command, "1", datetime.now(UTC))
        journals = WrittenJournals(None, 0, dict.fromkeys(stopped, ("OWN_JOURNAL_BEHIND",)))
        monkeypatch.setattr(
            "strandline.tables.lake.require", lambda store, design: store.designs.append(design)
        )
        monkeypatch.setattr(sync_journals, "write_local_journals", lambda *_, **__: journals)
        monkeypatch.setattr(reduce, "reduce_tables", lambda *_: done)
        if command == "reduce":
            report = reduce.run(store, (dialect("sdmp"),), ReduceRequest(), settings, context)
        else:
            request = sync_journals.SyncRequest(LocalNodes({"x": None}))
            report = sync_journals.run(store, dialect("sdmp"), request, settings, context)
        [row], [design] = store.rows, store.designs
        return report, row, design

    return run


@pytest.mark.parametrize("command", ["reduce", "sync"])
@pytest.mark.parametrize("done", [{}, DAMAGED, REFUSED, REFUSED | DAMAGED], ids=" ".join)
def test_both_commands_end_with_what_the_reduction_found(ended, command, done):
    refused = done.get("refused", {}).values()
    members = {**refused_members(refused), **found_members("damaged", done.get("damaged", {}))}
    result = ReduceResult(**done, members=members)
    expected = with_reduction(RunResult(), result)
    exit_code = EXIT_CODES[expected.outcome]
    report, row, _ = ended(command, result)
    assert (report.outcome, report.exit, report.error) == (expected.outcome, exit_code, expected.error)
    assert (row["outcome"], row["exit"]) == (expected.outcome, exit_code)
    # For the runs that come after it.
    assert json.loads(row["detail"]).keys() == {*report.members, "run_version", "repaired_versions"}
    assert report.members.items() >= members.items()
    console = Console(file=io.StringIO(), width=200)
    getattr(show, command)(console, report)
    text = console.file.getvalue()
    assert ("damaged: columns of peer_status do not follow from the records of node:x" in text) == (
        "damaged" in done
    )
    assert ("1 more namespaces were not reduced" in text) == ("refused" in done)


def test_a_snapshot_that_is_missing_or_changed_is_told_as_one(ended):
    damaged = {"snapshot": SomeNamespaces(("context:x",), 1)}
    result = ReduceResult(damaged=damaged, members=found_members("damaged", damaged))
    report, _, _ = ended("reduce", result)
    console = Console(file=io.StringIO(), width=200)
    show.reduce(console, report)
    text = console.file.getvalue()
    assert "damaged: the applied snapshot of context:x is missing or changed" in text
    assert "Restore the version of the table snapshot that has it." in text
    assert "columns" not in text


def test_of_many_namespaces_some_are_named_and_all_are_counted(ended):
    names = tuple(f"log:{number}" for number in range(10))
    found = {"ipfs_log_head": SomeNamespaces(names, 1_234), "ipfs_log_state": SomeNamespaces(names, 10)}
    members = found_members("differences", found) | found_members(
        "damaged", {**found, "snapshot": found["ipfs_log_head"]}
    )
    assert (members["differences"]["ipfs_log_head"], members["differences_total"]["ipfs_log_head"]) == (
        list(names),
        1_234,
    )
    report, _, _ = ended("reduce", ReduceResult(differences=found, members=members))
    console = Console(file=io.StringIO(), width=200)
    show.reduce(console, report)
    lines = console.file.getvalue().splitlines()
    named = ", ".join(names)
    assert f"difference repaired: ipfs_log_head of {named} (10 of 1,234 are named)" in lines
    assert f"difference repaired: ipfs_log_state of {named}" in lines
    assert any(line.endswith(f"from the records of {named} (10 of 1,234 are named)") for line in lines)
    assert f"damaged: the applied snapshot of {named} (10 of 1,234 are named) is missing or changed" in lines


def test_a_run_that_an_older_version_recorded_has_no_totals():
    console = Console(file=io.StringIO(), width=200)
    members = {"differences": {"ipfs_log_head": ["log:a"]}}
    show.reduce(console, Report("reduce", "r", lake="lake", members=members))
    assert "difference repaired: ipfs_log_head of log:a\n" in console.file.getvalue()


def test_a_writer_that_stopped_is_found_beside_a_sound_reduction(ended):
    report, _, _ = ended("sync", ReduceResult(), stopped=("x",))
    assert (report.outcome, report.members["stopped"]) == ("found", {"x": ["OWN_JOURNAL_BEHIND"]})


@pytest.mark.parametrize("command", ["reduce", "sync"])
def test_both_commands_make_a_lake_as_the_settings_say(ended, command):
    usual = defaults()
    chosen = usual.tables.model_copy(update={"buckets": 4, "deletion_vectors": True})
    _, _, made = ended(command, ReduceResult(), settings=usual.model_copy(update={"tables": chosen}))
    assert (made.buckets, made.properties["namespace_state"]) == (4, {DELETION_VECTORS_PROPERTY: "true"})

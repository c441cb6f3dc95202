"""No row of another lake gets lost on its way: the counts are compared before anything is written."""

from contextlib import nullcontext
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from strandline.contracts.reasons import reasons
from strandline.core.errors import FaultError
from strandline.dialect_api.admission import Admission
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.pipelines import sync_lakes
from strandline.pipelines.comparison import Comparison
from strandline.pipelines.local_journals import WrittenJournals
from strandline.pipelines.missing_rows import MissingRows, RowsLost
from strandline.pipelines.report import ReportError
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import fault_error
from strandline.pipelines.sync_totals import SyncTotals
from strandline.tables.written import Written


@pytest.mark.parametrize(
    ("moved", "read", "is_lost"), [(301, 299, True), (3, 4, True), (0, 0, False), (7, 7, False)]
)
def test_rows_that_were_moved_and_not_read_end_the_run(moved, read, is_lost):
    rows = MissingRows(None, moved, None, 2)  # type: ignore[arg-type]
    admission = Admission((), {"read": read}, None, 0)
    if not is_lost:
        rows.check(admission)
        return
    with pytest.raises(FaultError) as lost:
        rows.check(admission)
    assert lost.value.code == "ROWS_LOST"
    assert (str(moved) in lost.value.message, str(read) in lost.value.message) == (True, True)


@pytest.mark.parametrize(
    ("refused", "stopped", "faults", "damages", "outcome"),
    [(0, {}, 0, [], "ok"), (1, {}, 0, [], "found"), (0, {"x": ["OWN_JOURNAL_BEHIND"]}, 0, [], "found"),
     (1, {}, 1, [], "fault"), (1, {}, 0, [RowsLost(3, 2)], "fault")],
)  # fmt: skip
def test_a_refused_row_makes_the_exit_code_1(refused, stopped, faults, damages, outcome):
    totals = SyncTotals("other", stopped=stopped, faults=faults, damages=damages)
    totals.counts.update(refused=refused)
    result = totals.result()
    assert (result.outcome, result.error is not None) == (outcome, outcome == "fault")


def test_dialects_whose_records_did_not_come_are_told_together():
    totals = SyncTotals("other", damages=[RowsLost(3, 2), FaultError("TABLE_DAMAGED", "a file", "mend it")])
    error = totals.result().error
    assert error is not None
    assert (error.code, error.message.endswith("; a file")) == ("ROWS_LOST", True)
    assert SyncTotals("other").result().error is None


def test_an_internal_fault_of_a_record_is_told_with_its_meaning_and_what_to_do():
    assert fault_error(0, {"INTERNAL_ERROR": 1}) is None
    assert fault_error(1, {}).code == "INTERNAL_ERROR"
    other = fault_error(2, {"JSON_INVALID": 1, "LIBRARY_DISAGREEMENT": 2})
    known = reasons()["LIBRARY_DISAGREEMENT"]
    assert other == ReportError("LIBRARY_DISAGREEMENT", known.meaning, known.advice)
    totals = SyncTotals("other", faults=1, damages=[RowsLost(3, 2)])
    assert totals.result().error.code == "ROWS_LOST"
    totals = SyncTotals("other", faults=1)
    totals.reasons.update(INTERNAL_ERROR=1)
    assert totals.result().error == fault_error(1, totals.reasons)


def test_what_a_sync_repaired_before_rows_were_lost_is_in_its_report(monkeypatch):
    repaired = {"quarantine": Written(7, deleted=2)}

    def lost(*_):
        raise RowsLost(3, 2)

    monkeypatch.setattr(sync_lakes, "Admitter", lambda *_: SimpleNamespace(written=lambda: repaired))
    monkeypatch.setattr(sync_lakes, "_repair", lambda *_: False)
    monkeypatch.setattr(sync_lakes, "missing_rows", lost)
    there = SimpleNamespace(name="other", stored_bytes=lambda table: 0)
    store = SimpleNamespace(sized=lambda *_: nullcontext())
    monkeypatch.setattr(sync_lakes, "compare", lambda *_: Comparison(None))
    context = RunContext("run", "sync", "0", datetime(2026, 1, 1, tzinfo=UTC))
    run = sync_lakes._Sync(store, there, sync_lakes.SyncLakesRequest(), None, context)
    run._compare_and_copy(store, SDMP)
    result = run._totals.result()
    assert (result.error.code, result.written) == ("ROWS_LOST", repaired)


def test_totals_are_the_sums_over_the_dialects_and_name_all_that_was_found():
    totals = SyncTotals("/other", dry_run=True)
    totals.compared(Comparison(None, 9, 1, 2, 30, 4, 5, 600, plan=({"namespace": "a"},)))
    totals.compared(Comparison(None, 1, 1, 1, 1, 1, 1, 1, plan=({"namespace": "b"},)))
    for node, written in (("a", Written(3, 2)), ("b", None)):
        totals.add_journals("node_journal", WrittenJournals(written, 2, {node: ("X", "Y")}))
    totals.add({"node_journal": Written(4, 1)})
    result = totals.result()
    assert result.counts == {
        "equal": 2, "behind": 3, "missing": 632, "pruned_there": 5, "incomplete": 6, "authored": 4,
    }  # fmt: skip
    assert (result.namespaces, result.outcome, result.written) == (
        10,
        "found",
        {"node_journal": Written(4, 3)},
    )
    assert result.members == {
        "from": "/other", "plan": [{"namespace": "a"}, {"namespace": "b"}], "examples": {}, "dry_run": True,
        "stopped": {"a": ["X", "Y"], "b": ["X", "Y"]},
    }  # fmt: skip

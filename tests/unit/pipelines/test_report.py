"""Reports, run ids and fault points."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.contracts.load import contract
from strandline.core.errors import UsageError
from strandline.kernels.guard import INTERNAL_ERROR
from strandline.pipelines import runs
from strandline.pipelines.faults import Faults
from strandline.pipelines.report import MEMBERS, Report, ReportError, TableChange, as_json, utc_text
from strandline.pipelines.run_context import RunContext, new_run_id
from strandline.tables.delta_rs import DeltaRsLake, open_tables
from strandline.tables.location import Location
from strandline.tables.written import Written
from support.delta_rs_lake import empty_lake, write
from support.report_schema import check_report

WHEN = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


def report(**more: object) -> Report:
    return Report("ingest", new_run_id(WHEN, bytes(16)), **more)  # type: ignore[arg-type]


def test_a_report_is_one_line_of_ascii_with_the_shared_members_first() -> None:
    text = report(
        lake="/läke\n\u2028",
        counts={"read": 5},
        tables={"node_journal_line": TableChange(3, 2)},
        members={"own": ["\x1b[2J"]},
    ).to_json()
    assert text.isascii()
    assert text.isprintable()
    found = json.loads(text)
    assert tuple(found)[: len(MEMBERS)] == MEMBERS
    assert found["tables"] == {"node_journal_line": {"version": 3, "inserted": 2}}
    assert found["own"] == ["\x1b[2J"]
    check_report(found)


def test_an_error_stands_in_the_report() -> None:
    error = ReportError.of(UsageError("LAKE_NOT_FOUND", "no lake", "make one"))
    found = json.loads(report(outcome="usage", exit=2, error=error).to_json())
    assert found["error"] == {"code": "LAKE_NOT_FOUND", "message": "no lake", "next": "make one"}


def test_a_report_shows_itself_in_one_line_without_the_bytes_of_data() -> None:
    shown = report(
        lake="/l\n\x1b", seconds=3.21, counts={"read": 1234, "known": 0}, reasons={"JSON_INVALID": 2},
        members={"examples": ["x"] * 1000},
    )  # fmt: skip
    assert repr(shown) == "<ingest: ok (exit code 0) in 3.2 s; read 1,234; JSON_INVALID 2; lake '/l\\n\\x1b'>"
    error = ReportError("LAKE_NOT_FOUND", "no lake", "make one")
    failed = report(outcome="usage", exit=2, error=error)
    assert repr(failed) == (
        "<ingest: usage (exit code 2) in 0.0 s; lake None; LAKE_NOT_FOUND: 'no lake' 'make one'>"
    )


def test_own_members_never_hide_shared_ones() -> None:
    with pytest.raises(ValueError, match="counts"):
        report(members={"counts": {}}).to_json()


@pytest.mark.parametrize(
    "wrong", [{"outcome": "usage", "exit": 3}, {"outcome": "fault", "exit": 3}, {"exit": 1}]
)
def test_the_schema_refuses_what_contradicts_itself(wrong: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check_report(json.loads(report(**wrong).to_json()))


def test_run_ids_sort_by_time() -> None:
    later = new_run_id(WHEN + timedelta(seconds=1), bytes(16))
    assert new_run_id(WHEN, b"\xff" * 16) < later
    assert later == "20260131T093001Z-000000000000"


def test_times_are_told_in_utc() -> None:
    assert (
        utc_text(datetime(2026, 1, 31, 10, 30, tzinfo=timezone(timedelta(hours=1)))) == "2026-01-31T09:30:00Z"
    )
    assert utc_text(datetime(2026, 1, 31, 9, 30, 0, 5)) == "2026-01-31T09:30:00.000005Z"  # noqa: DTZ001


def test_stored_values_become_what_json_has() -> None:
    stored = {"id": bytearray(b"\xab"), "at": WHEN, "rows": (b"\x01", 2), "text": "b'x'", "none": None}
    assert {name: as_json(value) for name, value in stored.items()} == {
        "id": "ab", "at": "2026-01-31T09:30:00Z", "rows": ["01", 2], "text": "b'x'", "none": None
    }  # fmt: skip


def test_a_fault_point_fires_at_its_nth_visit_and_only_there() -> None:
    fired: list[str] = []
    faults = Faults.parse("ingest.records:2")
    faults.fire = lambda: fired.append("x")
    for point in ("ingest.records", "ingest.quarantine", "ingest.records", "ingest.records"):
        faults.reach(point)
    assert fired == ["x"]


def test_without_a_fault_point_nothing_fires() -> None:
    for text in (None, ""):
        Faults.parse(text).reach("ingest.records")


@pytest.mark.parametrize("text", ["p:0", "p:x", "p:-1", "p:²"])
def test_a_wrong_fault_point_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError):
        Faults.parse(text)


class Runs:
    """The table of runs: keeps what is appended."""

    def __init__(self, lake) -> None:
        self.location = Location.lake(str(lake))
        self.repaired_versions = {"quarantine": 3}

    def append_run(self, row, started_at) -> None:
        """Append a row as delta-rs has it."""
        assert {*row, "started_at"} <= {column.name for column in contract("run").columns}
        maps = ("counts", "reasons", "read_versions", "tables")
        values = row | {name: list(row[name].items()) for name in maps} | {"started_at": started_at}
        write(self.location.local_path(), "run", [values])


@pytest.mark.parametrize("arguments", [None, "00ff"])
def test_a_run_that_was_recorded_is_told_as_it_was(tmp_path, monkeypatch, arguments) -> None:
    monkeypatch.setattr(runs, "next_run_version", lambda _: 7)
    store = Runs(empty_lake(tmp_path / "lake"))
    context = RunContext(
        "r1", "ingest", "0.1", WHEN, elapsed=lambda: 2.5, session_seconds=1.5, arguments=arguments
    )
    full = runs.RunResult(
        "fault", "sdmp", {"read": 3}, {INTERNAL_ERROR: 2}, 4, {"run": 1},
        {"run": Written(1, 7, 8, 9)}, {"own": ["x"], "damaged": {"a": 1}}, ReportError("A", "b", "c"),
    )  # fmt: skip
    for result, run_id in ((full, "r1"), (runs.RunResult(), "r2")):
        made = runs.record_run(store, replace(context, run_id=run_id), result)
        assert (made.seconds, made.session_seconds, made.exit) == (2.5, 1.5, 3 if result is full else 0)
        assert made.tables == ({"run": TableChange(1, 7)} if result is full else {})
        further = {} if arguments is None else {runs.ARGUMENTS: arguments}
        lake = DeltaRsLake(store.location, open_tables(store.location))
        assert runs.recorded_run(lake, run_id) == replace(
            made, session_seconds=0.0, members={**made.members, **further, "repeated": True}
        )
        [row] = lake.query(f"SELECT * FROM run WHERE run_id = '{run_id}'", ("run",))
        assert (row["version"], row["dialect"], row["started_at"]) == ("0.1", result.dialect, WHEN)
        assert json.loads(row["detail"])["run_version"] == 7
    assert runs.recorded_run(lake, "r3") is None


def test_a_run_with_internal_faults_ends_with_the_error_of_one() -> None:
    assert runs.fault_error(0, {INTERNAL_ERROR: 1}) is None
    for found in ({INTERNAL_ERROR: 1}, {}):
        error = runs.fault_error(1, found)
        assert error is not None
        assert (error.code, bool(error.message), bool(error.next)) == (INTERNAL_ERROR, True, True)


WRITTEN = st.builds(Written, *[st.integers(0, 9)] * 4)


@given(WRITTEN, WRITTEN)
def test_statements_add_up_and_the_last_version_counts(first, second) -> None:
    both = first + second
    assert both.version == second.version
    for name in ("inserted", "updated", "deleted"):
        assert getattr(both, name) == getattr(first, name) + getattr(second, name)
    assert both.is_change == (first.is_change or second.is_change)
    assert first.is_change == ((first.inserted, first.updated, first.deleted) != (0, 0, 0))

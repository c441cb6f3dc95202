"""What `maintain` does to a table that only its catalog compacts and vacuums."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from pyspark.errors import UnsupportedOperationException

from strandline.pipelines import maintain as pipeline
from strandline.pipelines.faults import Faults
from strandline.pipelines.maintain import MaintainRequest
from strandline.pipelines.run_context import NoProgress, RunContext
from strandline.tables import maintain
from strandline.tables.location import Location
from strandline.tables.maintain import SmallFiles

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLOCKED = "[DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION] VACUUM is blocked by the catalog."
HELD = ("node_journal", "run")


@pytest.fixture
def ran(monkeypatch):
    """Maintains a lake in a schema of which two tables have rows; compaction and vacuum raise `error`."""

    def run(error, *, dry_run):
        def refuse(*_, **__):
            raise error

        kept, notes, results = [], [], []
        monkeypatch.setattr(pipeline.lake, "check_there", lambda store: None)
        monkeypatch.setattr(pipeline, "_needed_versions", lambda *_: {})
        monkeypatch.setattr(maintain, "small_files", lambda *_, **__: SmallFiles((0,), 9, 900))
        monkeypatch.setattr(maintain, "retention_days", lambda *_: dict.fromkeys(maintain.RETENTION_DAYS, 30))
        monkeypatch.setattr(maintain, "keep_for", lambda store, table, days: kept.append((table, days)))
        for name in ("compact", "removable"):
            monkeypatch.setattr(maintain, name, refuse)
        monkeypatch.setattr(pipeline, "record_run", lambda store, context, result: results.append(result))
        monkeypatch.setattr(NoProgress, "note", lambda _, text: notes.append(text))
        store = SimpleNamespace(
            location=Location.parse_schema("main.ours"),
            stored_bytes=HELD.__contains__,
            version=lambda table: 7,
            delta_rs_table=lambda table: None,
        )
        context = RunContext(
            "run", "maintain", "0", NOON, faults=Faults(), elapsed=lambda: 4.0, progress=NoProgress()
        )
        request = MaintainRequest(
            keep_days=7, small_files=2, small_bytes=1000, target_bytes=1000, dry_run=dry_run
        )
        report = pipeline.run(store, (), request, context)
        return (results or [report])[0], kept, notes

    return run


def test_tables_of_which_the_catalog_keeps_maintenance_to_itself_get_their_days_and_are_named(ran):
    result, kept, notes = ran(UnsupportedOperationException(BLOCKED), dry_run=False)
    assert kept == [(table, 7) for table in HELD]
    assert dict(result.counts) == {
        "compacted_files": 0, "written_files": 0, "removed_files": 0, "retention_set": 2,
    }  # fmt: skip
    assert result.members["left_to_catalog"] == sorted(HELD)
    assert [entry["removable_files"] for entry in result.members["maintenance"]] == [0, 0]
    assert notes == ["the catalog alone compacts and vacuums 2 tables: they are left to it"]


def test_a_dry_run_names_them_and_writes_nothing(ran):
    report, kept, _ = ran(UnsupportedOperationException(BLOCKED), dry_run=True)
    assert (kept, report.members["left_to_catalog"]) == ([], sorted(HELD))


def test_another_error_ends_maintenance(ran):
    with pytest.raises(UnsupportedOperationException):
        ran(UnsupportedOperationException("[DELTA_UNSUPPORTED_VACUUM_SPECIFIC_PARTITION] no"), dry_run=False)

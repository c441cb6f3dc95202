"""What the upkeep of `gc` does to a table that only its catalog compacts and vacuums."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from pyspark.errors import UnsupportedOperationException

from strandline.pipelines import gc, gc_upkeep
from strandline.pipelines.faults import Faults
from strandline.pipelines.gc_rounds import Done
from strandline.pipelines.gc_upkeep import Upkeep, UpkeepResult
from strandline.pipelines.run_context import NoProgress, RunContext
from strandline.tables.maintain import SmallFiles
from strandline.tables.old_versions import Kept

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LOG = "ipfs_log_entry"
WEEK = timedelta(days=7)
BOTH = Upkeep(compact_to=2**27, vacuum_hours=168)


class Logs:
    """A dialect, as a class: what is kept is listed by dialect."""

    info = SimpleNamespace(name="ipfslog", record_table=LOG)


def context():
    return RunContext("run", "gc", "0", NOON, faults=Faults(), elapsed=lambda: 4.0, progress=NoProgress())


@pytest.fixture
def kept_up(monkeypatch):
    """Keeps up a table of logs and `quarantine`; statements on `refused` tables raise the error of a catalog."""

    def run(*refused, error="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION"):
        def statement(done):
            def execute(_, table, *__, **___):
                if table in refused:
                    raise UnsupportedOperationException(f"[{error}] blocked by the catalog.")
                return done

            return execute

        rows, notes = [], []
        for module, name, result in (
            (gc_upkeep.maintain, "compact", (2, 1)),
            (gc_upkeep.maintain, "purge", False),
            (gc_upkeep.old_versions, "vacuum_now", 5),
        ):
            monkeypatch.setattr(module, name, statement(result))
        monkeypatch.setattr(gc_upkeep.maintain, "small_files", lambda *_, **__: SmallFiles((0,), 9, 900))
        monkeypatch.setattr(gc_upkeep, "_kept", lambda *_: Kept(WEEK, WEEK))
        for name in ("_behind", "_without_files", "_vacuumed"):
            monkeypatch.setattr(gc_upkeep, name, lambda *_: None)
        monkeypatch.setattr(
            gc_upkeep.gc_runs, "write_runs", lambda _, written: rows.append(written) or {"gc_run": None}
        )
        monkeypatch.setattr(gc_upkeep, "add_written", lambda written, more: written.update(more))
        monkeypatch.setattr(NoProgress, "note", lambda _, text: notes.append(text))
        store = SimpleNamespace(stored_bytes=lambda _: 9, version=lambda _: 7)
        return gc_upkeep.keep_up(store, [Logs], BOTH, context(), None), rows, notes

    return run


def test_tables_that_only_their_catalog_vacuums_are_named_and_no_row_says_that_their_files_are_gone(kept_up):
    done, rows, notes = kept_up(LOG, "quarantine")
    assert (done.left, rows) == ({LOG, "quarantine"}, [])
    assert done.counts == {"compacted_files": 0, "written_files": 0, "removed_files": 0}
    assert done.written == {}
    assert notes == ["the catalog alone compacts and vacuums 2 tables: they are left to it"]


def test_the_other_tables_are_vacuumed(kept_up):
    done, rows, _ = kept_up(LOG)
    assert (done.left, rows, list(done.written)) == ({LOG}, [], ["quarantine"])
    assert done.counts == {"compacted_files": 0, "written_files": 0, "removed_files": 5}


def test_without_such_a_table_the_rows_of_collections_get_their_time(kept_up):
    done, rows, notes = kept_up()
    assert (done.left, len(rows), notes) == (set(), 1, [])
    assert done.counts == {"compacted_files": 2, "written_files": 1, "removed_files": 10}


def test_another_error_ends_the_upkeep(kept_up):
    with pytest.raises(UnsupportedOperationException):
        kept_up(LOG, error="DELTA_UNSUPPORTED_VACUUM_SPECIFIC_PARTITION")


@pytest.mark.parametrize(("left", "outcome"), [({LOG}, "found"), (set(), "ok")])
def test_the_run_tells_what_was_pruned_and_names_the_tables(monkeypatch, left, outcome):
    results = []

    def collect(*arguments):
        next(each for each in arguments if isinstance(each, Done)).counts["pruned"] = 4

    for module, name, result in (
        (gc.lake, "check_there", None),
        (gc.prune_plans, "pruning_dialects", ()),
        (gc.prune_plans, "every_pruning", ()),
        (gc.named_namespaces, "named", SimpleNamespace(chosen={})),
        (gc.gc_runs, "check_tables", None),
        (gc.gc_runs, "finish", (0, {})),
        (gc.gc_runs, "kept_by_others", {}),
        (gc, "_keep_up", UpkeepResult(left=left)),
    ):
        monkeypatch.setattr(module, name, lambda *_, result=result: result)
    monkeypatch.setattr(gc, "_collect", collect)
    monkeypatch.setattr(gc, "record_run", lambda store, context, result: results.append(result))
    gc.run(SimpleNamespace(), [Logs], gc.GcRequest(skip_window=0, upkeep=BOTH), context())
    [result] = results
    assert (result.outcome, result.counts["pruned"]) == (outcome, 4)
    assert result.members.get("left_to_catalog", []) == sorted(left)

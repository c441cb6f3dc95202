"""A run that is killed and repeated under the same id ends with the tables and the one row of an undisturbed run."""

import pytest

from strandline.dialects import dialect
from strandline.pipelines import ingest
from strandline.pipelines.ingest_input import IngestRequest
from strandline.pipelines.runs import recorded_run
from strandline.tables.commits import Retry
from strandline.tables.delta_rs import open_delta_rs
from strandline.tables.location import Location
from strandline.tables.store import TableStore
from support.devicelog_cases import Log, lines
from support.kills import KilledError, killed_at
from support.lakes import write_files
from support.random_journals import corpus

[FIRST, SECOND] = corpus(seed=19, journals=5, runs=2)


def _ingest(lake, folder, attempt, faults=None):
    store = TableStore(
        lake.spark,
        Location.lake(str(lake.path)),
        Retry(lake.settings.merge),
        run_id="job-19",
        attempt=attempt,
    )
    request = IngestRequest(sources=(str(folder),))
    context = lake.context(store, "ingest", faults)
    return ingest.run(store, dialect(lake.dialect), request, lake.settings, context)


def test_a_killed_run_repeated_under_its_id_has_what_arrived_since_and_one_row(new_lake, tmp_path):
    folder = write_files(tmp_path / "in", FIRST)
    lake = new_lake(buckets=2)
    with pytest.raises(KilledError):
        _ingest(lake, folder, "a", killed_at("ingest.quarantine"))
    # Two attempts have the same number of statements: Delta must not take the second one's MERGE for the first one's.
    write_files(folder, SECOND)
    report = _ingest(lake, folder, "b")
    undisturbed = new_lake("undisturbed", buckets=2)
    undisturbed.ingest(folder)
    assert lake.tables() == undisturbed.tables()
    assert report.counts["read"] == sum(
        report.counts[name] for name in ("new", "known", "rejected", "deferred")
    )
    # An attempt that did not see the row in time adds none.
    _ingest(lake, folder, "c")
    assert [row[0] for row in lake.rows("run", "run_id")].count("job-19") == 1
    told = recorded_run(open_delta_rs(Location.lake(str(lake.path))), "job-19")
    assert (told.counts, told.tables, told.reasons) == (report.counts, report.tables, report.reasons)


def test_a_killed_run_repeated_under_its_id_ends_the_wait_for_the_records_that_it_inserted(
    new_lake, tmp_path
):
    lake, log = new_lake(dialect="devicelog"), Log(b"repeated")
    log.found("log")
    log.say("a")
    lake.ingest(write_files(tmp_path / "waits", {"log.jsonl": lines(*log.entries[1:])}))
    first = write_files(tmp_path / "first", {"log.jsonl": lines(*log.entries[:1])})
    with pytest.raises(KilledError):
        _ingest(lake, first, "a", killed_at("ingest.records"))
    assert lake.rows("quarantine", "status") == [("deferred",)]
    _ingest(lake, first, "b")
    assert lake.rows("quarantine") == []

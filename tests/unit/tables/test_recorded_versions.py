"""Which tables that an earlier run read are other ones by now, by the rows of `run` and by the logs of tables."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from strandline.core.errors import UsageError
from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from strandline.tables.recorded_versions import CLOCKS_DIFFER, RecordedVersions, created_after, is_other

TABLE = "node_journal_line"
ENDED = datetime(2026, 11, 25, 12, tzinfo=UTC)


def row(order, *created):
    return {"order": order, "created": json.dumps(created)}


def test_a_table_is_another_one_if_a_later_init_created_it():
    # As `run_order` has it: rows of older versions of Strandline first, by their time.
    first, old = row((-1, ENDED, "a"), TABLE, "run"), {"order": (-1, ENDED, "b"), "created": None}
    ours, tied = {"order": (4, None, "b"), "created": None}, row((4, None, "a"), "aura_fact")
    later = [row((4, None, "c"), "quarantine"), row((9, None, "a"), TABLE, "snapshot")]
    rows = [*later, first, old, ours, tied]
    assert created_after(rows, ours) == {"quarantine", TABLE, "snapshot"}
    assert created_after(rows, old) == {"quarantine", TABLE, "snapshot", "aura_fact"}
    assert created_after(rows, later[1]) == set()


def test_a_table_is_another_one_if_its_version_is_not_there_or_was_committed_after_the_run(tmp_path):
    tables = TableReads(None, Location.lake(str(tmp_path)))
    millis = int(ENDED.timestamp() * 1000)

    def made(*ages):
        shutil.rmtree(tmp_path / TABLE, ignore_errors=True)
        for version, age in enumerate(ages):
            write_deltalake(tmp_path / TABLE, pa.table({"n": [version]}), mode="append")
            commit = tmp_path / TABLE / "_delta_log" / f"{version:020}.json"
            actions = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
            for each in actions:
                if "commitInfo" in each:
                    each["commitInfo"]["timestamp"] = int((ENDED + age).timestamp() * 1000)
            commit.write_text("".join(json.dumps(each) + "\n" for each in actions), encoding="utf-8")

    hour, second = CLOCKS_DIFFER, timedelta(seconds=1)
    made(-hour, hour - second, hour + second)
    assert [is_other(tables, TABLE, version, millis) for version in range(4)] == [False, False, True, True]
    made(-hour)
    assert not is_other(tables, TABLE, 0, millis)
    # A lake was cloned, or somebody made the table anew: its first version is younger than the run.
    made(hour + second, 2 * hour)
    assert is_other(tables, TABLE, 0, millis)
    # The log cleanup removed the commit: that is another matter.
    (tmp_path / TABLE / "_delta_log" / f"{0:020}.json").unlink()
    assert not is_other(tables, TABLE, 0, millis)
    # Of a table elsewhere only the rows of `run` tell.
    assert not is_other(TableReads(None, Location.parse_schema("main.strandline")), TABLE, 0, millis)


def test_a_table_that_is_another_one_is_named_with_its_run():
    versions = {TABLE: 1, "aura_fact": 2}
    RecordedVersions("reduce", versions).check_same("run-1-a")
    for recreated, said in (({TABLE}, f"{TABLE} is not"), ({*versions}, f"aura_fact and {TABLE} are not")):
        with pytest.raises(UsageError, match=said) as refused:
            RecordedVersions("reduce", versions, frozenset(recreated)).check_same("run-1-a")
        assert (refused.value.code, "run-1-a" in refused.value.message) == ("TABLE_RECREATED", True)

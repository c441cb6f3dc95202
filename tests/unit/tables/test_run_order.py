"""Which place in the order of runs the next row gets, without Spark."""

import json
from contextlib import nullcontext
from datetime import timedelta

import pytest

from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from strandline.tables.run_order import in_order, next_run_version
from strandline.tables.run_versions import RUN_VERSION
from support.delta_rs_lake import WHEN, empty_lake, write


def test_in_a_local_lake_it_is_the_version_of_the_table_and_spark_is_not_asked(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    tables = TableReads(None, Location.lake(str(lake)))
    assert next_run_version(tables) == 0
    # Rows of older versions of Strandline name none, and rows that are added at the same time name the same.
    for version, named in enumerate((None, 1, 1, 3), 1):
        detail = {} if named is None else {RUN_VERSION: named}
        ran = {"run_id": "r", "command": "reduce", "version": "1", "outcome": "ok", "lake": "lake"}
        write(lake, "run", [ran | {"read_versions": [], "tables": [], "detail": json.dumps(detail)}])
        assert next_run_version(tables) == version


@pytest.mark.parametrize(("named", "is_asked"), [(0, False), (1, True), (7, True)])
def test_only_a_row_that_names_no_older_version_than_that_of_the_table_is_one_of_a_clone(
    tmp_path, monkeypatch, named, is_asked
):
    """Rows that a clone has name versions of the other table: Spark is asked for the greatest."""

    class AskedError(Exception):
        pass

    def asked(*_):
        raise AskedError

    monkeypatch.setattr(TableReads, "read", asked)
    ran = {"run_id": "r", "command": "reduce", "version": "1", "outcome": "ok", "lake": "lake"}
    write(tmp_path, "run", [ran | {"detail": json.dumps({RUN_VERSION: named})}])
    tables = TableReads(None, Location.lake(str(tmp_path)))
    with pytest.raises(AskedError) if is_asked else nullcontext():
        assert next_run_version(tables) == 1


def test_rows_in_memory_are_in_the_order_of_commits_and_older_versions_come_first_by_time(tmp_path):
    """Of rows that were added at the same time, the random part of the id decides; the clock counts only without it."""
    rows = [
        ("run-9-a", {RUN_VERSION: 4}, 0), ("run-1-b", {RUN_VERSION: 4}, 9), ("run-8-c", {RUN_VERSION: 11}, 1),
        ("run-2-w", {RUN_VERSION: 0}, 0),
        ("run-7-z", None, 5), ("run-6-y", None, 2), ("run-5-x", "no JSON", 3), ("run-4-w", {RUN_VERSION: "4"}, 4),
    ]  # fmt: skip
    for run_id, detail, hours in rows:
        text = detail if isinstance(detail, str) else None if detail is None else json.dumps(detail)
        ran = {"run_id": run_id, "detail": text, "started_at": WHEN + timedelta(hours=hours)}
        write(tmp_path, "run", [ran | {"read_versions": [("node_journal_line", hours)]}])
    few = TableReads(None, Location.lake(str(tmp_path))).few_rows("run")
    found = in_order(few)
    assert [row["run_id"][4:] for row in found] == ["6-y", "5-x", "4-w", "7-z", "2-w", "9-a", "1-b", "8-c"]
    assert [row["read_versions"]["node_journal_line"] for row in found] == [2, 3, 4, 5, 0, 0, 9, 1]
    assert [row["detail"] for row in found[:3]] == [{}, {}, {RUN_VERSION: "4"}]

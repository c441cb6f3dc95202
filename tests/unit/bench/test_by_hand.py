"""The side by hand writes again what the product wrote: MERGEs with ranges, and rows of `run` by delta-rs."""

from pathlib import Path

import pytest
from deltalake import DeltaTable

from bench.by_hand import ReadyRows, append_again, appended_rows, merge_sql
from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from support.delta_rs_lake import write

RUN = {
    "command": "ingest", "version": "0.0.0", "outcome": "ok", "lake": "lake", "counts": {"new": 3},
    "tables": {"node_journal_line": {"version": 7, "inserted": 3}},
}  # fmt: skip


def rows_of_run(lake: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = DeltaTable(str(lake / "run")).to_pyarrow_table().to_pylist()
    return found


def test_rows_of_run_are_appended_again_each_in_a_commit_and_without_a_session(tmp_path: Path) -> None:
    done, here = tmp_path / "done", tmp_path / "here"
    for lake in (done, here):
        write(lake, "run", [{"run_id": "before"}])
    since = DeltaTable(str(done / "run")).version()
    for run_id in ("ingest", "reduce"):
        write(done, "run", [{"run_id": run_id, **RUN}])
    ready = appended_rows(done, "run", since)
    assert {row.values["run_id"] for row in ready} == {"ingest", "reduce"}
    # Without a session: the way over Spark would fail.
    tables = TableReads(None, Location.lake(str(here)))  # type: ignore[arg-type]
    for row in ready:
        append_again(tables, row)
    assert DeltaTable(str(here / "run")).version() == since + 2
    key = "run_id"
    assert sorted(rows_of_run(here), key=lambda row: str(row[key])) == sorted(
        rows_of_run(done), key=lambda row: str(row[key])
    )


@pytest.mark.parametrize(
    ("table", "bounds", "named"),
    [
        ("node_journal_line", {"n": (1001, 2000)}, "t.n BETWEEN 1001 AND 2000"),
        ("ipfs_log_view", {"position": (5, 9)}, "t.position BETWEEN 5 AND 9"),
    ],
)
def test_a_merge_by_hand_names_the_buckets_and_the_range_of_its_rows(
    table: str, bounds: dict[str, tuple[int, int]], named: str
) -> None:
    sql = merge_sql(ReadyRows(table, Path("rows"), (3, 5), bounds, is_deleting=False), Path("/lake"))
    assert f"MERGE INTO delta.`/lake/{table}` AS t" in sql
    assert "t.bucket IN (3, 5)" in sql
    assert named in sql


def test_a_merge_by_hand_without_a_range_deletes_what_is_gone() -> None:
    sql = merge_sql(ReadyRows("node_journal", Path("rows"), (3,), {}, is_deleting=True), Path("/lake"))
    assert "BETWEEN" not in sql
    assert "THEN DELETE" in sql

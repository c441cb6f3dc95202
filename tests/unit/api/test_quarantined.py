"""What a small `quarantine` has of a dialect is told without Spark."""

from strandline.dialect_api.quarantined import WAITING, statuses
from strandline.tables import small_tables
from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from support import delta_rs_lake


def test_statuses_are_those_of_the_rows_of_the_dialect_and_all_where_the_table_is_not_small(
    tmp_path, monkeypatch
):
    delta_rs_lake.write(tmp_path, "quarantine", [])
    tables = TableReads(None, Location.lake(str(tmp_path)))
    assert statuses("sdmp", tables) == frozenset()
    rows = [("sdmp", "rejected"), ("sdmp", "rejected"), ("aura", WAITING)]
    delta_rs_lake.write(
        tmp_path, "quarantine", [{"dialect": dialect, "status": status} for dialect, status in rows]
    )
    assert statuses("sdmp", tables) == {"rejected"}
    assert statuses("aura", tables) == {WAITING}
    monkeypatch.setattr(small_tables, "MOST_FILES", 0)
    delta_rs_lake.write(tmp_path, "quarantine", [{"dialect": "sdmp", "status": "rejected"}])
    assert statuses("ipfslog", tables) == {"rejected", WAITING}

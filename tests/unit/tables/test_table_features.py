"""Tables with features of Delta that Strandline does not give them: delta-rs reads their rows, or says why not."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from strandline.core.errors import FaultError
from strandline.tables import slices
from strandline.tables.delta_rs import READ_HERE, DeltaRsLake, open_tables
from strandline.tables.location import Location
from support.delta_rs_lake import add_feature, change_first_commit, held, state, write

TABLE = "namespace_state"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    write(tmp_path / "lake", TABLE, [state("node:1")])
    return tmp_path / "lake"


def opened(lake: Path) -> DeltaRsLake:
    location = Location.lake(str(lake))
    return DeltaRsLake(location, open_tables(location))


def namespaces(lake: Path) -> list[object]:
    return [row["namespace"] for row in opened(lake).query(f"SELECT namespace FROM {TABLE}", (TABLE,))]


@pytest.mark.parametrize("feature", sorted(READ_HERE))
def test_delta_rs_reads_the_rows_of_a_table_with_each_feature_that_is_said_so(
    lake: Path, feature: str
) -> None:
    add_feature(lake, TABLE, feature)
    assert not opened(lake).needs_spark
    assert namespaces(lake) == ["node:1"]


@pytest.mark.parametrize("feature", ["typeWidening", "vacuumProtocolCheck"])
def test_a_table_whose_rows_delta_rs_does_not_read_is_left_to_spark_and_else_named(
    lake: Path, feature: str
) -> None:
    add_feature(lake, TABLE, feature)
    assert opened(lake).needs_spark
    with pytest.raises(FaultError) as refused:
        namespaces(lake)
    assert refused.value.code == "TABLE_UNSUPPORTED"
    assert f"the table {TABLE} of {lake} has a feature" in refused.value.message


def test_a_table_that_its_catalog_manages_is_no_damage(lake: Path) -> None:
    add_feature(lake, TABLE, "catalogManaged")
    with pytest.raises(FaultError) as refused:
        opened(lake)
    assert refused.value.code == "TABLE_UNSUPPORTED"
    assert f"the table {TABLE} of {lake} belongs to a catalog" in refused.value.message
    assert "--schema" in refused.value.next


def test_a_clone_whose_source_lost_its_files_is_named(lake: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.move(lake / TABLE, source)
    clone(source, lake / TABLE)
    write(lake, "quarantine", [held(b"x", namespace="node:1", status="rejected", reasons=["X"])])
    query = f"SELECT namespace FROM {TABLE} UNION ALL SELECT namespace FROM quarantine"
    assert opened(lake).query(query, (TABLE, "quarantine")) == [{"namespace": "node:1"}] * 2
    [file] = source.rglob("*.parquet")
    file.unlink()
    with pytest.raises(FaultError) as refused:
        opened(lake).query(query, (TABLE, "quarantine"))
    assert refused.value.code == "TABLE_DAMAGED"
    assert f"the table {TABLE} of {lake} is damaged: " in refused.value.message
    assert file.name in refused.value.message


def test_rows_without_a_bucket_are_in_a_slice(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def allow_null(actions: Mapping[str, Any]) -> None:
        schema = json.loads(actions["metaData"]["schemaString"])
        for field in schema["fields"]:
            field["nullable"] |= field["name"] == "bucket"
        actions["metaData"]["schemaString"] = json.dumps(schema)

    change_first_commit(lake, TABLE, allow_null)
    write(lake, TABLE, [state("node:2") | {"bucket": 1}])
    table = DeltaTable(str(lake / TABLE))
    rows = table.to_pyarrow_table(filters=[("bucket", "=", 1)])
    bucket = pa.nulls(rows.num_rows, pa.int32())
    without = rows.set_column(rows.schema.get_field_index("bucket"), "bucket", bucket)
    write_deltalake(table, without, mode="append")
    for limit, expected in ((10, [None]), (1, ["bucket IN (0)", "bucket IN (1)", "bucket IS NULL"])):
        monkeypatch.setattr(slices, "ROWS_OF_A_SLICE", limit)
        assert opened(lake).slices((TABLE,)) == expected


def clone(source: Path, table: Path) -> None:
    """Make a table of the files of another one, as SHALLOW CLONE does."""
    actions = [
        json.loads(line)
        for commit in sorted((source / "_delta_log").glob("*.json"))
        for line in commit.read_text().splitlines()
    ]
    kept = [each for each in actions if not each.keys() & {"commitInfo", "txn"}]
    for added in (each["add"] for each in kept if "add" in each):
        added["path"] = f"{source.as_uri()}/{added['path']}"
    (table / "_delta_log").mkdir(parents=True)
    (table / "_delta_log" / f"{0:020}.json").write_text("".join(json.dumps(each) + "\n" for each in kept))

"""Tables with features of Delta that Strandline does not give them: delta-rs reads their rows, or says why not."""

from pathlib import Path

import pytest

from strandline.core.errors import FaultError
from strandline.tables.delta_rs import READ_HERE, DeltaRsLake, open_tables
from strandline.tables.location import Location
from support.delta_rs_lake import add_feature, state, write

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

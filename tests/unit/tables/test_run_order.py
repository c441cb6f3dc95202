"""Which place in the order of runs the next row gets, without Spark."""

import json

from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from strandline.tables.run_order import next_run_version
from strandline.tables.run_versions import RUN_VERSION
from support.delta_rs_lake import empty_lake, write


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

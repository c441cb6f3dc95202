"""Every check finds the row that is planted for it, and no other; what breaks it is named."""

import json
from collections import defaultdict

from pyspark.sql.types import StructType

from strandline.contracts.checks import checks
from strandline.contracts.ddl import columns_ddl
from strandline.contracts.load import contract
from strandline.tables.checks import find_broken
from strandline.tables.commits import session_settings
from strandline.tables.work_settings import SMALL_WORK
from support.places import BUCKETS
from support.planted_cases import CASES, OTHER

MOST = 50


def test_each_check_finds_what_is_planted_for_it_and_nothing_else(spark):
    every = checks(buckets=BUCKETS)

    def frame(table):
        names = contract(table).names
        rows = [row for case in CASES for row in case.rows.get(table, ())]
        schema = StructType.fromDDL(columns_ddl(contract(table)))
        for field in schema:
            # Delta would refuse some of these rows.
            field.nullable = True
        return spark.createDataFrame(
            [tuple(row.get(name) for name in names) for row in rows], schema
        ).coalesce(1)

    with session_settings(spark, SMALL_WORK):
        found = find_broken(spark, every, frame, most=MOST, is_small=True)
    by_case = defaultdict(set)
    for check, row in found:
        values = {*map(str, json.loads(row).values())}
        cases = {number for number, case in enumerate(CASES) if values & tokens(case)}
        assert len(cases) == 1, (check.name, row, cases)
        by_case[cases.pop()].add(check.name)
    assert {case.name: by_case[number] for number, case in enumerate(CASES)} == {
        case.name: set(case.breaks) for case in CASES
    }


def tokens(case) -> set[str]:
    """The names and ids by which a row tells its case."""
    found = set()
    for table, rows in case.rows.items():
        for row in rows:
            ids = {row[name].hex() for name in ("record_id", "quarantine_id") if name in row}
            found |= {row["run_id"]} if table == "run" else {row["namespace"], *ids}
    return found - {None, "log:", OTHER.hex()}

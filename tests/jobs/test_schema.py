"""A schema of a catalog holds what a folder holds; and `status` shows what the view does, whoever reads the tables."""

import json
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from deltalake import DeltaTable

from strandline.cli import main
from strandline.contracts.checks import checks
from strandline.dialects import infos
from support.costs import counted
from support.lakes import Lake
from support.places import BUCKETS

SCHEMA = "spark_catalog.strandline_places"
ASKED = "SELECT * FROM namespace_health ORDER BY namespace"
DAMAGED = """
SELECT source, dialect, rejected, source_offset, array_join(reasons, ',') AS reasons, first_rejected, last_seen
FROM damaged_source ORDER BY last_seen DESC, source
"""


@pytest.fixture
def schema(spark):
    yield SCHEMA
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


@pytest.fixture
def told(capsys):
    """Runs a command in this process and returns its report."""

    def run(*words: str) -> dict:
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_a_schema_ends_with_the_rows_states_and_counts_of_a_folder(
    spark, settings, undisturbed, schema, told, capsys
):
    as_there = ("--set", f"tables.buckets={BUCKETS}")
    # The first command that writes makes the schema and its tables; init adds the views.
    reports = [
        report
        for source in ("first", "second")
        for report in (
            told(
                "ingest", str(undisturbed.root / source), "--dialect", "sdmp", *as_there, "--schema", schema
            ),
            told("reduce", "--schema", schema),
        )
    ]
    for report, of_folder in zip(reports, undisturbed.reports, strict=True):
        assert report["lake"] == schema
        for name in ("command", "outcome", "counts", "reasons", "namespaces"):
            assert report[name] == getattr(of_folder, name), name
    # The same files, without the catalog: so they are read in a tenth of the time.
    [[place]] = (
        spark.sql(f"DESCRIBE SCHEMA {schema}").where("info_name = 'Location'").select("info_value").collect()
    )
    lake = Lake(spark, settings, Path(urlsplit(place).path))
    empty = {table for table, rows in undisturbed.tables.items() if not rows}
    unused = {
        "node_resource",
        "peer_status",
        "wanted_resource",
        "snapshot",
        "snapshot_member",
        "pruned_record",
        "gc_run",
        "checkpoint_leaf",
        "checkpoint",
    }
    for name, info in infos().items():
        unused |= set() if name == "sdmp" else {info.record_table, *info.side_tables, *info.reduced_tables}
    assert empty == unused - {"equivocation", "namespace_state"}
    assert lake.tables() == undisturbed.tables
    assert told("check", "--schema", schema)["counts"]["broken"] == 0
    again = {}
    cost = counted(spark, urlsplit(place).path, lambda: again.update(told("init", "--schema", schema)))
    assert (again["created"], again["migrated"]) == ([], [])
    # All tables are looked at, by statements that run no job; the row of `run` is the one commit.
    assert (cost.jobs <= 4, cost.commits) == (True, 1)
    cost = counted(spark, urlsplit(place).path, lambda: told("reduce", "--schema", schema))
    assert (cost.jobs <= 50, cost.commits) == (True, 1)
    synced = told("sync", "--from", str(undisturbed.root / "lake"), "--schema", schema, "--dry-run")
    assert synced["counts"]["missing"] == 0
    assert health(told("sql", ASKED, "--schema", schema)) == by_namespace(told("status", "--schema", schema))
    # Somebody widens a count. It is said when the table is read, not by a report that cannot be written.
    states = f"{schema}.namespace_state"
    [[sound]] = spark.sql(f"DESCRIBE HISTORY {states} LIMIT 1").select("version").collect()
    for changed in (
        "SET TBLPROPERTIES (delta.enableTypeWidening = 'true')",
        "DROP CONSTRAINT reduced_version_is_not_negative",
        "ALTER COLUMN reduced_version TYPE DECIMAL(20, 0)",
    ):
        spark.sql(f"ALTER TABLE {states} {changed}")
    assert main(["status", "--schema", schema, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "TABLE_DIFFERS"
    assert (
        f"reduced_version of the table namespace_state of {schema} has the type decimal(20,0)"
        in error["message"]
    )
    # As the advice says.
    spark.sql(f"RESTORE TABLE {states} TO VERSION AS OF {sound}")
    assert told("status", "--schema", schema)["rows"]
    # Somebody gives a column another name. Spark says which name it does not find, and we in which table it was.
    for changed in (
        "SET TBLPROPERTIES (delta.columnMapping.mode = 'name')",
        "RENAME COLUMN reducer_version TO version",
    ):
        spark.sql(f"ALTER TABLE {schema}.namespace_state {changed}")
    for words in (("status",), ("reduce", "--full")):
        assert main([*words, "--schema", schema, "--json"]) == 2
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["code"] == "TABLE_DIFFERS"
        assert f"the table namespace_state of {schema} has no column reducer_version" in error["message"]


def test_status_shows_without_a_jvm_what_the_view_holds(undisturbed, told):
    where = ("--lake", str(undisturbed.root / "lake"))
    status = told("status", *where)
    shown = by_namespace(status)
    assert {row["health"] for row in shown} == {"forked", "waiting", "rejected", "ok"}
    assert health(told("sql", ASKED, *where)) == shown
    damaged = health(told("sql", DAMAGED, *where))
    assert (damaged[:20], len(damaged)) == (status["damaged_files"], status["damaged_files_total"])
    assert damaged


def test_a_lake_is_checked_and_a_row_that_is_gone_is_found(undisturbed, tmp_path, told, capsys):
    sound = told("check", "--lake", str(undisturbed.root / "lake"))
    assert (sound["counts"]["broken"], sound["broken"]) == (0, [])
    assert {entry["check"] for entry in sound["checks"]} == {check.name for check in checks(buckets=BUCKETS)}
    lake = tmp_path / "lake"
    shutil.copytree(undisturbed.root / "lake", lake)
    DeltaTable(lake / "node_journal").delete()
    assert main(["check", "--lake", str(lake), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["outcome"], report["counts"]["broken"]) == ("found", 1)
    [broken] = report["broken"]
    assert broken["check"] == "node_journals_agree_with_lines"
    assert broken["tables"] == ["node_journal_line", "namespace_state", "node_journal"]
    assert all(row["namespace"].startswith("node:") and "line_count_found" in row for row in broken["rows"])
    assert broken["rows"] == sorted(broken["rows"], key=lambda row: row["namespace"])
    assert len(broken["rows"]) + broken["more"] > 3


def health(report: dict) -> list[dict]:
    """The rows that a query gave."""
    return [dict(zip(report["columns"], row, strict=True)) for row in report["rows"]]


def by_namespace(report: dict) -> list[dict]:
    """The rows of status, which come worst first."""
    return sorted(report["rows"], key=lambda row: row["namespace"])

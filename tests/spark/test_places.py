"""The same commands over a folder and over a schema of a catalog; and the two ways to ask how namespaces fare."""

import json

import pytest

from strandline.cli import main
from support.lakes import Lake, write_files
from support.random_journals import corpus

SCHEMA = "spark_catalog.strandline_places"
HEALTHS = {"forked", "waiting", "rejected", "ok"}
ASKED = "SELECT * FROM namespace_health ORDER BY namespace"


@pytest.fixture
def schema(spark):
    yield SCHEMA
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


def test_a_schema_and_a_folder_end_with_the_same_rows_and_status_shows_what_the_view_holds(
    spark, settings, new_lake, schema, tmp_path, capsys
):
    folder = new_lake()
    where = {"--lake": str(folder.path), "--schema": schema}
    inputs = [
        str(write_files(tmp_path / f"in{number}", files))
        for number, files in enumerate(corpus(31, 14, runs=2))
    ]

    def told(option: str, *words: str) -> dict:
        capsys.readouterr()
        assert main([*words, option, where[option], "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    def same(*words: str) -> None:
        reports = [told(option, *words) for option in where]
        for name in ("counts", "reasons", "namespaces", "outcome"):
            assert reports[0][name] == reports[1][name], name
        assert [report["lake"] for report in reports] == list(where.values())

    # The schema is made by the first command that writes; the folder is there already.
    for source in inputs:
        same("ingest", source, "--dialect", "sdmp")
        same("reduce")
    in_schema = Lake(spark, settings, schema)
    tables = folder.tables()
    assert tables == in_schema.tables()
    assert all(tables.values())
    in_schema.assert_sound()

    view = told("--lake", "sql", ASKED)
    rows = [dict(zip(view["columns"], row, strict=True)) for row in view["rows"]]
    assert {row["health"] for row in rows} == HEALTHS
    status = told("--lake", "status", "--all")
    assert sorted(status["rows"], key=lambda row: row["namespace"]) == rows
    assert told("--schema", "status", "--all")["counts"] == status["counts"]
    told("--schema", "init")
    of_schema = told("--schema", "sql", ASKED)
    assert [row[:-1] for row in of_schema["rows"]] == [row[:-1] for row in view["rows"]]

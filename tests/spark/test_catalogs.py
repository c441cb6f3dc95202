"""Lakes in schemas of catalogs that refuse, lack something, or have other tables by the names of the lake's."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pyspark.errors import AnalysisException

from strandline.cli import main
from strandline.contracts.ddl import add_checks_sql, table_properties
from strandline.contracts.load import contract, tables
from strandline.contracts.quoting import quote_name
from strandline.core.errors import FaultError
from strandline.tables import lake
from strandline.tables.commits import session_settings
from strandline.tables.creating import LakeDesign, make
from strandline.tables.store import TableStore
from support.lakes import Lake

SCHEMA = "spark_catalog.strandline_catalogs"
CAPABILITY, RUN = "capability", "run"
DESIGN = LakeDesign(4, {RUN: {"made.by": "us"}})


@pytest.fixture
def schema(spark):
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    yield SCHEMA
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


@pytest.fixture
def refused(spark, capsys):
    """Runs a command that is refused and returns its code, exit code and texts."""

    def run(*words: str) -> tuple[str, int, str]:
        capsys.readouterr()
        exit_code = main([*words, "--json", "--quiet"])
        error = json.loads(capsys.readouterr().out)["error"]
        return error["code"], exit_code, f"{error['message']} {error['next']}"

    return run


class Refusing:
    """A session whose catalog takes no constraints from CREATE TABLE; `stop_at` ALTER statements it is killed."""

    def __init__(self, spark, stop_at: int = 1_000) -> None:
        self._spark, self._left = spark, stop_at

    def sql(self, statement: str):
        if statement.startswith("CREATE TABLE") and "delta.constraints." in statement:
            raise AnalysisException(
                message="use ALTER TABLE", errorClass="DELTA_ADD_CONSTRAINTS", messageParameters={}
            )
        if statement.startswith("ALTER TABLE"):
            self._left -= 1
            if self._left < 0:
                raise KeyboardInterrupt
        return self._spark.sql(statement)

    def __getattr__(self, name: str):
        return getattr(self._spark, name)


def kept_in(spark, schema):
    """The names in the schema. Spark also lists the temporary views of the session."""
    return [
        row["tableName"] for row in spark.sql(f"SHOW TABLES IN {schema}").collect() if not row["isTemporary"]
    ]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("CREATE TABLE {0}.run (x INT) USING parquet", "run"),
        ("CREATE TABLE {0}.run (x INT) USING delta", "run"),
        ("CREATE VIEW {0}.node_journal AS SELECT 1 AS x", "node_journal"),
        ("CREATE TABLE {0}.namespace_health (x INT) USING parquet", "namespace_health"),
        ("CREATE VIEW {0}.namespace_health AS SELECT 1 AS x", "namespace_health"),
    ],
)
def test_what_others_have_in_a_schema_is_neither_used_nor_replaced(spark, schema, refused, statement, name):
    spark.sql(statement.format(schema))
    for words in (("init",), ("ingest", __file__, "--dialect", "sdmp"), ("reduce",)):
        code, exit_code, told = refused(*words, "--schema", schema)
        assert (code, exit_code) == ("LAKE_FOREIGN", 2)
        assert f"the lake's: {name}." in told
    assert kept_in(spark, schema) == [name]
    assert spark.table(f"{schema}.{name}").columns == ["x"]


READING = [
    ("status",),
    ("check",),
    ("sql", "SELECT 1 FROM run"),
    ("quarantine", "list"),
    ("maintain",),
    ("gc",),
]


@pytest.mark.parametrize("words", READING)
def test_a_command_that_reads_makes_no_lake_in_a_schema(spark, schema, refused, words):
    for where in (f"{SCHEMA}_nothing", schema):
        code, exit_code, told = refused(*words, "--schema", where)
        assert (code, exit_code, f"`strandline init --schema {where}`" in told) == ("LAKE_NOT_FOUND", 2, True)
    assert kept_in(spark, schema) == []


def test_a_lake_that_lacks_a_table_says_what_to_do(spark, settings, schema, refused):
    make(Lake(spark, settings, schema).store(), DESIGN, (RUN,))
    for words in READING:
        code, exit_code, told = refused(*words, "--schema", schema)
        assert (code, exit_code, "keeps the existing tables" in told) == ("TABLE_MISSING", 2, True)


def test_a_catalog_that_the_session_does_not_have_is_named(refused):
    code, exit_code, told = refused("init", "--schema", "nosuch.ours")
    assert (code, exit_code, "no catalog nosuch" in told) == ("CATALOG_UNKNOWN", 2, True)


CATALOGS = {
    "spark.sql.catalog.broken": "org.example.password.Catalog",
    "spark.sql.catalog.other": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    "spark.sql.catalog.other.url": "jdbc:derby:memory:strandline;create=true;password=secret",
    "spark.sql.catalog.other.driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
}


def test_a_catalog_that_cannot_be_opened_or_keeps_no_delta_is_a_fault(spark, refused):
    with session_settings(spark, CATALOGS):
        code, exit_code, told = refused("status", "--schema", "broken.ours")
        assert (code, exit_code, "password" in told) == ("CATALOG_UNREADABLE", 3, False)
        code, exit_code, told = refused("init", "--schema", "other.OURS")
        assert (code, exit_code, "secret" in told) == ("CATALOG_REFUSED", 3, False)


def checks_of(store: TableStore, table: str) -> set[str]:
    return {name for name in store.properties(table) if name.startswith("delta.constraints.")}


def expected(table: str) -> set[str]:
    return {
        name for name in table_properties(contract(table), buckets=4) if name.startswith("delta.constraints.")
    }


def test_constraints_are_added_where_create_table_does_not_take_them(spark, settings, schema):
    store = Lake(spark, settings, schema).store()
    assert make(Lake(Refusing(spark), settings, schema).store(), DESIGN, (RUN,)) == (RUN,)
    assert checks_of(store, RUN) == expected(RUN)
    assert store.properties(RUN)["made.by"] == "us"
    # Another process, which had not found the table.
    assert make(Lake(Refusing(spark), settings, schema).store(), DESIGN, (RUN,)) == (RUN,)
    assert checks_of(store, RUN) == expected(RUN)
    with pytest.raises(Exception, match="seconds_is_not_negative"):
        store.append_run(
            {"run_id": "x", "command": "x", "version": "1", "outcome": "ok", "lake": "x", "exit": 0, "seconds": -1.0},
            datetime.now(UTC),
        )  # fmt: skip
    # Nothing is missing: nothing is committed.
    version = store.version(RUN)
    assert lake.complete(store, lake.inspect(store)) == ()
    assert store.version(RUN) == version


def test_after_a_kill_between_a_table_and_its_constraints_the_rest_is_added(spark, settings, schema):
    store = Lake(spark, settings, schema).store()
    with pytest.raises(KeyboardInterrupt):
        make(Lake(Refusing(spark, stop_at=1), settings, schema).store(), DESIGN, (CAPABILITY,))
    assert len(checks_of(store, CAPABILITY)) == 1 < len(expected(CAPABILITY))
    assert lake.complete(store, lake.inspect(store)) == (CAPABILITY,)
    assert checks_of(store, CAPABILITY) == expected(CAPABILITY)


def test_after_a_kill_between_a_commit_and_the_catalog_the_owner_has_to_look(
    spark, settings, schema, tmp_path
):
    store = Lake(spark, settings, schema).store()
    make(store, DESIGN, (RUN,))
    [row] = spark.sql(f"DESCRIBE DETAIL {schema}.run").select("location").collect()
    place = Path(urlsplit(row["location"]).path)
    shutil.copytree(place, tmp_path / "kept")
    spark.sql(f"DROP TABLE {schema}.run")
    shutil.copytree(tmp_path / "kept", place)
    with pytest.raises(FaultError) as told:
        make(store, DESIGN, (RUN,))
    assert told.value.code == "CATALOG_REFUSED"
    shutil.rmtree(place)
    assert make(store, DESIGN, (RUN,)) == (RUN,)


@pytest.mark.parametrize("table", tables())
def test_delta_parses_each_statement_that_adds_a_constraint(spark, table):
    parser = spark._jsparkSession.sessionState().sqlParser()
    target = quote_name("main", "ours", table)
    for statement in add_checks_sql(contract(table), target=target, buckets=4, properties={}):
        plan = parser.parsePlan(statement)
        assert plan.getClass().getSimpleName().startswith("AlterTableAddConstraint"), plan.toString()

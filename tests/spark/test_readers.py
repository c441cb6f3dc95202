"""What reads a lake gives the same: Spark and delta-rs for `report`, Spark and Spark Connect for queries."""

import json
import shutil
from datetime import UTC, datetime

import pytest

import strandline
from strandline.contracts.load import tables
from strandline.dialects import drawings, health_queries, record_tables
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, render
from strandline.pipelines import fleet
from strandline.session.open import check_session
from strandline.tables.commits import session_settings
from strandline.tables.delta_rs import open_delta_rs
from strandline.tables.read_lake import SparkLake
from strandline.tables.views import bare_names
from support.connect_server import as_client
from support.lakes import Lake, write_files
from support.other_settings import OF_SESSIONS
from support.packaged import ROOT
from support.places import BUCKETS

QUERIES = (
    "SELECT namespace, health, records FROM namespace_health ORDER BY namespace",
    "SELECT run.command, count(*) AS runs FROM run GROUP BY run.command ORDER BY command",
    "WITH a AS (SELECT n FROM node_journal_line VERSION AS OF 0) SELECT count(*) AS lines FROM a",
    "SELECT h.tip_n, e.n FROM node_journal_health AS h JOIN Node_Journal_Entry e ON h.tip_n = e.n ORDER BY h.node",
    (
        "SELECT p.step, p.cid FROM ipfs_log_iterate(TABLE(ipfs_log_dag) PARTITION BY (namespace), amount => 2) AS p"
        " JOIN ipfs_log_node AS n ON n.record_id = p.record_id ORDER BY p.cid"
    ),
    (
        "SELECT step, cid FROM ipfs_log_traverse(TABLE(SELECT * FROM ipfs_log_dag WHERE namespace = 'log:notes')"
        " PARTITION BY namespace ORDER BY position, amount => 3) ORDER BY step"
    ),
)
ASK = """
import json, sys
from pyspark.sql import SparkSession
import strandline
SparkSession.builder.getOrCreate()
lake, other, queries = strandline.open(sys.argv[1]), strandline.open(sys.argv[2]), json.loads(sys.argv[3])
frames = [lake.sql(query) for query in queries]
assert type(frames[0]).__module__.startswith("pyspark.sql.connect."), type(frames[0])
empty = other.sql(queries[0]).collect()
print(json.dumps([[list(row) for row in frame.collect()] for frame in frames] + [len(empty)]))
"""


@pytest.fixture(scope="module")
def lake(spark, settings, empty_lakes, tmp_path_factory):
    """A lake with a forked journal, waiting and rejected lines, and logs."""
    root = tmp_path_factory.mktemp("read")
    lake = Lake(spark, settings, shutil.copytree(empty_lakes[False], root / "lake"))
    forked, cut, late = list(synthetic(0, 30)), list(synthetic(1, 6)), list(synthetic(2, 6))
    sibling = next(append(forked[4], [(synthetic_id("author", 0), synthetic_id("resource", 999))]))
    node = forked[0].decode()
    files = {
        "a.journal": render(forked),
        "b.jsonl": batch(node, forked[4].partition(b"@")[0].decode(), [sibling]) + b"\n",
        "c.journal": render([*cut[:3], *cut[4:]]),
        "d.jsonl": batch(late[0].decode(), late[2].partition(b"@")[0].decode(), late[3:]) + b"\n",
    }
    lake.ingest(write_files(root / "lines", files))
    logs = {"logs.jsonl": (ROOT / "examples" / "stores.jsonl").read_bytes()}
    lake.dialect = "ipfslog"
    lake.ingest(write_files(root / "logs", logs))
    lake.reduce()
    yield lake
    lake.assert_sound()


def test_spark_gives_the_numbers_of_delta_rs(lake):
    before = fleet.Before(datetime(2000, 1, 1, tzinfo=UTC), {"ok": 1})
    context = lake.context(lake.store(), "report")
    given = (record_tables(), health_queries(), drawings(), before, context)
    # Hours and days are those of UTC in the session of any host.
    with session_settings(lake.spark, {"spark.sql.session.timeZone": "Asia/Kolkata"}):
        by_spark = fleet.run(SparkLake(lake.store()), *given)
    by_delta_rs = fleet.run(open_delta_rs(lake.store().location), *given)
    assert by_spark.members == by_delta_rs.members
    assert (by_spark.counts, by_spark.reasons) == (by_delta_rs.counts, by_delta_rs.reasons)

    found = by_spark.members
    assert by_spark.counts["forked"] == 1
    assert found["since"]["changed_namespaces"] == len(lake.rows("namespace_state", "namespace"))
    assert sum(each["records"] for each in found["quarantined"]) == len(lake.rows("quarantine", "status"))
    assert [each["awaited"].partition(":")[0] for each in found["waiting"]] == ["line", "line"]
    [drawing] = [each for each in found["drawings"] if each["health"] == "forked"]
    places = [each["place"] for each in drawing["nodes"]]
    assert (places[0], places[-1], places.count(6)) == (1, 30, 2)
    assert drawing["nodes"][0]["marks"] == ["start"]
    heads = [
        node for each in found["drawings"] if each["dialect"] == "ipfslog" for node in each["nodes"][-1:]
    ]
    assert heads
    assert all("head" in node["marks"] for node in heads)


def test_a_session_with_other_settings_makes_the_same_lake(lake, tmp_path):
    """All of `OF_SESSIONS` at once, beside variables and views of the owner with the names of columns and tables."""
    spark, other = lake.spark, Lake(lake.spark, lake.settings, tmp_path / "other")
    usual = states_of(lake)
    with session_settings(spark, OF_SESSIONS):
        check_session(spark.conf.get)
        spark.range(1).createOrReplaceTempView("run")
        for name in ("namespace", "run_id"):
            spark.sql(f"DECLARE OR REPLACE VARIABLE {name} STRING DEFAULT 'of the owner'")
        try:
            other.init(buckets=BUCKETS)
            other.ingest(lake.path.parent / "lines")
            other.dialect = "ipfslog"
            other.ingest(lake.path.parent / "logs")
            other.reduce()
            assert {name: spark.conf.get(name) for name in OF_SESSIONS} == OF_SESSIONS
            assert states_of(other) == usual
            for table in sorted({*tables()} - {"run", "gc_run"}):
                assert other.rows(table) == lake.rows(table), table
            assert other.bring(lake).counts["missing"] == 0
            other.snapshot()
            other.gc()
            other.maintain()
            other.assert_sound()
        finally:
            for name in ("namespace", "run_id"):
                spark.sql(f"DROP TEMPORARY VARIABLE IF EXISTS {name}")
            spark.catalog.dropTempView("run")


def states_of(lake):
    """What the health of the lake's namespaces is, as a query tells it."""
    query = QUERIES[0]
    with bare_names(lake.store(), query):
        return [tuple(row) for row in lake.spark.sql(query).collect()]


def test_a_query_over_connect_has_the_rows_of_a_classic_one_and_keeps_its_lake(
    lake, empty_lakes, remote, tmp_path
):
    here = strandline.open(lake.path)
    classic = [[list(row) for row in here.sql(query).collect()] for query in QUERIES]
    assert all(classic)
    places = (str(lake.path), str(empty_lakes[False]))
    over_connect = as_client(remote, tmp_path, "-c", ASK, *places, json.dumps(QUERIES))
    assert json.loads(over_connect.splitlines()[-1]) == [*classic, 0]

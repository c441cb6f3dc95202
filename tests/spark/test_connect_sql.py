"""`strandline.open(..).sql` over Spark Connect: a client without a JVM of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import strandline
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.session.jars import cached_jars
from support.connect_server import client_environ, connect_server
from support.lakes import write_files
from support.packaged import ROOT

QUERIES = (
    "SELECT namespace, health, records FROM namespace_health ORDER BY namespace",
    "SELECT run.command, count(*) AS runs FROM run GROUP BY run.command ORDER BY command",
    "WITH a AS (SELECT n FROM node_journal_line VERSION AS OF 0) SELECT count(*) AS lines FROM a",
    "SELECT h.tip_n, e.n FROM node_journal_health AS h JOIN Node_Journal_Entry e ON h.tip_n = e.n ORDER BY h.node",
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


@pytest.fixture
def client(settings, tmp_path):
    """Runs a Python text with arguments as a client of a server, and returns what it printed."""
    with connect_server(tmp_path / "server", cached_jars(Path(settings.spark.cache))) as server:

        def run(text: str, *words: str, **more: str) -> str:
            path = os.pathsep.join([str(ROOT / "lib"), str(ROOT / "tests")])
            environ = client_environ(tmp_path, server.remote) | {"PYTHONPATH": path} | more
            done = subprocess.run(
                [sys.executable, "-c", text, *words],
                env=environ,
                capture_output=True,
                text=True,
                cwd=tmp_path,
            )
            assert done.returncode == 0, done.stderr[-3000:]
            return done.stdout

        yield run


def test_a_query_over_connect_has_the_rows_of_a_classic_one_and_keeps_its_lake(new_lake, client, tmp_path):
    lake, other = new_lake(buckets=2), new_lake("other")
    lake.ingest(
        write_files(
            tmp_path / "in", {"a.journal": render(synthetic(3, 12)), "b.journal": render(synthetic(4, 5))}
        )
    )
    lake.reduce()
    here = strandline.open(lake.path)
    classic = [[list(row) for row in here.sql(query).collect()] for query in QUERIES]
    assert all(classic)
    over_connect = json.loads(
        client(ASK, str(lake.path), str(other.path), json.dumps(QUERIES)).splitlines()[-1]
    )
    assert over_connect == [*classic, 0]

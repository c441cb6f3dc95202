"""`strandline.open(..).sql` over Spark Connect: a client without a JVM of its own."""

import json

import strandline
from strandline.dialects import dialect
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from support.connect_server import as_client
from support.lakes import write_files

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
        "SELECT step, cid FROM ipfs_log_traverse(TABLE(SELECT * FROM ipfs_log_dag WHERE namespace = 'log:demo-shop')"
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


def test_a_query_over_connect_has_the_rows_of_a_classic_one_and_keeps_its_lake(new_lake, remote, tmp_path):
    lake, other = new_lake(buckets=2), new_lake("other")
    lake.ingest(
        write_files(
            tmp_path / "in", {"a.journal": render(synthetic(3, 12)), "b.journal": render(synthetic(4, 5))}
        )
    )
    logs = {file.name: file.content for file in dialect("ipfslog").demo().files}
    new_logs = write_files(tmp_path / "logs", logs)
    lake.dialect = "ipfslog"
    lake.ingest(new_logs)
    lake.reduce()
    here = strandline.open(lake.path)
    classic = [[list(row) for row in here.sql(query).collect()] for query in QUERIES]
    assert all(classic)
    over_connect = as_client(
        remote, tmp_path, "-c", ASK, str(lake.path), str(other.path), json.dumps(QUERIES)
    )
    assert json.loads(over_connect.splitlines()[-1]) == [*classic, 0]

"""The numbers of `report`: through Spark as through delta-rs."""

from datetime import UTC, datetime

from strandline.dialects import drawings, health_queries, record_tables
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, render
from strandline.pipelines import fleet
from strandline.tables.delta_rs import open_delta_rs
from strandline.tables.read_lake import SparkLake
from support.lakes import write_files
from support.packaged import ROOT


def test_spark_gives_the_numbers_of_delta_rs(new_lake, tmp_path):
    lake = new_lake()
    forked, cut, late = list(synthetic(0, 30)), list(synthetic(1, 6)), list(synthetic(2, 6))
    sibling = next(append(forked[4], [(synthetic_id("author", 0), synthetic_id("resource", 999))]))
    node = forked[0].decode()
    files = {
        "a.journal": render(forked),
        "b.jsonl": batch(node, forked[4].partition(b"@")[0].decode(), [sibling]) + b"\n",
        "c.journal": render([*cut[:3], *cut[4:]]),
        "d.jsonl": batch(late[0].decode(), late[2].partition(b"@")[0].decode(), late[3:]) + b"\n",
    }
    lake.ingest(write_files(tmp_path / "lines", files))
    logs = {"logs.jsonl": (ROOT / "examples" / "stores.jsonl").read_bytes()}
    lake.dialect = "ipfslog"
    lake.ingest(write_files(tmp_path / "logs", logs))
    lake.reduce()

    before = fleet.Before(datetime(2000, 1, 1, tzinfo=UTC), {"ok": 1})
    context = lake.context(lake.store(), "report")
    given = (record_tables(), health_queries(), drawings(), before, context)
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

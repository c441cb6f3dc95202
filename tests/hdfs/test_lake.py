"""A lake in HDFS and a folder of it that a stream follows: Spark's own jars have the file system."""

import json

import pytest

import strandline
from strandline.cli import main
from strandline.core.errors import StrandlineError
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from support.random_journals import corpus
from support.reference import outcome_of
from support.stream_rules import STATES, StreamRules, rows

pytestmark = [pytest.mark.hdfs, pytest.mark.timeout(1800), pytest.mark.usefixtures("session")]

[FILES] = corpus(seed=6, journals=12, runs=1)


class TestHdfs(StreamRules):
    odd = ("a b%20c.journal", "ж+#[1].journal", "x=1/{a,b}?*.journal", "deep/a\\b")

    @pytest.fixture
    def served(self, cluster):
        return cluster

    def test_a_folder_is_followed_while_it_is_there(self, served, tmp_path, fault):
        folder = f"{served.root}/some/where"
        lake = strandline.open(tmp_path / "lake")
        with pytest.raises(StrandlineError) as refused:
            lake.stream(folder, dialect="sdmp")
        assert refused.value.code == "SOURCE_MISSING"
        served.put("some/where/a.journal", render(synthetic(1, 5)))
        fault("stream.reduced", lambda: served.remove("some/where"))
        with pytest.raises(StrandlineError) as stopped:
            lake.stream(folder, dialect="sdmp", every="200ms")
        assert stopped.value.code == "SOURCE_GONE"
        assert stopped.value.message == f"The folder {folder} no longer exists"
        assert rows(lake, "SELECT tip_n FROM node_journal") == [(5,)]


def test_a_lake_in_hdfs_has_the_states_of_the_reference(cluster, capsys):
    for name, content in FILES.items():
        cluster.put(f"first/{name}", content)
    uri = f"{cluster.root}/lake"
    lake = strandline.open(uri)
    with pytest.raises(StrandlineError) as caught:
        lake.status()
    assert caught.value.code == "LAKE_NOT_FOUND"
    lake.init(buckets=4)
    lake.ingest(f"{cluster.root}/first", dialect="sdmp")
    lake.reduce()
    _, states = outcome_of(FILES)
    assert dict(rows(lake, STATES)) == states
    # The checkpoint lies in HDFS, too. HDFS renames in one step: no lock is needed.
    several = strandline.open(uri, settings={"merge.several_drivers": True})
    assert several.stream(f"{cluster.root}/first", dialect="sdmp").counts["new"] == 0
    assert lake.stream(f"{cluster.root}/first", dialect="sdmp").counts["batches"] == 0
    assert lake.check().exit == 0
    lake.maintain()
    capsys.readouterr()
    assert main(["status", "--lake", uri, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rows"]
    assert {row["namespace"]: row["state_hash"] for row in found if row["state_hash"]} == states

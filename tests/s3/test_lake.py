"""A lake in a bucket: Spark writes it by hadoop-aws, delta-rs and Spark read it; input lies in the same bucket."""

import json
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import strandline
from strandline.cli import main
from strandline.core.errors import StrandlineError
from strandline.session.conf import spark_conf
from strandline.session.jars import cached_jars
from support.fetched_jars import fetched_jars
from support.random_journals import corpus
from support.reference import outcome_of
from support.s3 import BUCKET, store_of_its_own

pytestmark = [pytest.mark.s3, pytest.mark.timeout(1800)]

LOCK = Path(__file__).with_name("hadoop_aws.lock")
FIRST, SECOND = corpus(seed=6, journals=12, runs=2)


@pytest.fixture(scope="module")
def served():
    with store_of_its_own() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ALLOW_HTTP", "true")  # delta-rs
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield running


@pytest.fixture(scope="module", autouse=True)
def session(served, settings, tmp_path_factory):
    temporary, cache = tmp_path_factory.mktemp("spark"), Path(settings.spark.cache)
    jars = (*cached_jars(cache), *fetched_jars(LOCK, cache / "hadoop-aws"))
    conf = spark_conf(settings, temporary=temporary, jars=jars) | {
        "spark.hadoop.fs.s3a.endpoint": served.url,
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }
    (temporary / "log4j2.properties").write_text("rootLogger.level = error\n")
    started = SparkSession.builder.config(map=conf).getOrCreate()
    yield started
    started.stop()


def test_a_lake_in_a_bucket_has_the_states_of_the_reference(served, tmp_path, capsys):
    files = {
        f"{folder}/{name}": content
        for folder, files in (("first", FIRST), ("second", SECOND))
        for name, content in files.items()
    }
    for key, content in files.items():
        served.put(key, content)
    uri = f"s3a://{BUCKET}/lake"
    lake = strandline.open(uri)
    with pytest.raises(StrandlineError) as caught:
        lake.status()
    assert caught.value.code == "LAKE_NOT_FOUND"
    lake.init(buckets=4)
    for folder in ("first", "second"):
        lake.ingest(f"s3://{BUCKET}/{folder}", dialect="sdmp")
        lake.reduce()
    _, states = outcome_of(files)
    found = lake.sql("SELECT namespace, state_hash FROM namespace_health WHERE state_hash IS NOT NULL")
    assert {row["namespace"]: row["state_hash"] for row in found.collect()} == states
    # Nothing new: nothing is written, and nothing is found wrong.
    assert lake.ingest(f"s3a://{BUCKET}/first/**", dialect="sdmp").counts["new"] == 0
    assert lake.check().exit == 0
    assert lake.reduce(full=True).exit == 0
    lake.maintain()
    # Without Spark, by delta-rs, under both names of the scheme.
    for name in (uri, uri.replace("s3a:", "s3:")):
        capsys.readouterr()
        assert main(["status", "--lake", name, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert {row["namespace"]: row["state_hash"] for row in rows if row["state_hash"]} == states
    # To files of this machine, and into a lake of this machine.
    lake.export(*states, out=tmp_path / "exported.jsonl")
    other = strandline.open(tmp_path / "lake")
    other.ingest(tmp_path / "exported.jsonl", dialect="sdmp")
    other.reduce()
    again = other.sql("SELECT namespace, state_hash FROM namespace_health WHERE state_hash IS NOT NULL")
    assert {row["namespace"]: row["state_hash"] for row in again.collect()} == states

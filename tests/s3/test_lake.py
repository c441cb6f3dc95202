"""A lake in a bucket: Spark writes it by hadoop-aws, delta-rs and Spark read it; input lies in the same bucket."""

import json

import pytest

import strandline
from strandline.cli import main
from strandline.core.errors import StrandlineError
from support.random_journals import corpus
from support.reference import outcome_of
from support.s3 import BUCKET

pytestmark = [pytest.mark.s3, pytest.mark.timeout(1800)]

FIRST, SECOND = corpus(seed=6, journals=12, runs=2)


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
    capsys.readouterr()
    assert main(["init", "--lake", uri]) == 0
    assert "one driver at a time may write" in capsys.readouterr().err
    lake.ingest(f"s3://{BUCKET}/first", dialect="sdmp")
    lake.reduce()
    # The checkpoint lies in the bucket, too.
    assert lake.stream(f"s3://{BUCKET}/second", dialect="sdmp").counts["batches"] == 1
    assert lake.stream(f"s3://{BUCKET}/second", dialect="sdmp").counts["batches"] == 0
    _, states = outcome_of(files)
    found = lake.sql("SELECT namespace, state_hash FROM namespace_health WHERE state_hash IS NOT NULL")
    assert {row["namespace"]: row["state_hash"] for row in found.collect()} == states
    # Delta's own log store has no lock against other drivers.
    with pytest.raises(StrandlineError) as caught:
        strandline.open(uri, settings={"merge.several_drivers": True}).ingest(
            f"s3://{BUCKET}/first", dialect="sdmp"
        )
    assert caught.value.code == "LOG_STORE_UNSAFE"
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

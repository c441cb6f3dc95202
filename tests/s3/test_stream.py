"""A stream of a prefix ends with the tables of one `ingest` of it, however it was cut, killed or replayed."""

import pytest

import strandline
from strandline.core.errors import StrandlineError
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from support.s3 import BUCKET
from support.stream_rules import StreamRules, rows

pytestmark = [pytest.mark.s3, pytest.mark.timeout(1800)]


class TestS3(StreamRules):
    odd = (
        "a b%20c.journal",
        "ж+#[1].journal",
        "sub:x/2026-11-22T06:30:00Z.journal",
        "x=1/{a,b}?*.journal",
        "deep/a\\b",
    )

    def test_a_prefix_is_followed_before_its_first_object_and_after_its_last(self, served, tmp_path):
        lake, prefix = strandline.open(tmp_path / "lake"), f"s3://{BUCKET}/some/where"
        assert lake.stream(prefix, dialect="sdmp").counts["batches"] == 0
        served.put("some/where/a.journal", render(synthetic(1, 5)))
        served.put("some/wheres/b.journal", render(synthetic(2, 5)))
        assert lake.stream(prefix, dialect="sdmp").counts["new"] == 5
        served.remove("some/where/a.journal")
        assert lake.stream(prefix, dialect="sdmp").counts["batches"] == 0

    def test_a_stream_that_runs_on_ends_with_a_fault_when_its_bucket_goes(self, served, tmp_path, fault):
        served.make_bucket("passing")
        served.put("in/a.journal", render(synthetic(1, 5)), "passing")

        def gone() -> None:
            served.remove("in/a.journal", "passing")
            served.remove_bucket("passing")

        fault("stream.reduced", gone)
        lake = strandline.open(tmp_path / "lake")
        with pytest.raises(StrandlineError) as stopped:
            lake.stream("s3://passing/in", dialect="sdmp", every="200ms")
        assert stopped.value.code == "SOURCE_GONE"
        assert "s3://passing/in" in stopped.value.message
        assert rows(lake, "SELECT tip_n FROM node_journal") == [(5,)]

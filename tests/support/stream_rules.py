"""What `stream` follows of a store, whichever it is: a store's tests are a subclass, beside a fixture `served`."""

from typing import ClassVar

import pytest

import strandline
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.pipelines.faults import Faults
from strandline.tables import stream_objects
from strandline.tables.new_manifests import write_manifest
from support.kills import KilledBatchError, kill_batch
from support.lakes import write_files
from support.random_journals import corpus
from support.reference import outcome_of

FIRST, SECOND = corpus(seed=31, journals=4, runs=2)
STATES = "SELECT namespace, state_hash FROM namespace_health WHERE state_hash IS NOT NULL"
# A stream waits for a file that a manifest names: it may come in a later batch.
REJECTED = (
    "SELECT source, source_offset, to_json(reasons) FROM quarantine "
    "WHERE NOT array_contains(reasons, 'MANIFEST_FILE_MISSING')"
)
RECORDS = "SELECT namespace, record_id FROM node_journal_line"


def rows(lake, query: str) -> list[tuple]:
    return sorted((tuple(row) for row in lake.sql(query).collect()), key=repr)


class StreamRules:
    """The rules. `odd` are names that the store takes, relative to a prefix."""

    odd: ClassVar[tuple[str, ...]]

    @pytest.fixture
    def fault(self, monkeypatch):
        def armed(point: str, fire=kill_batch) -> None:
            monkeypatch.setattr(Faults, "parse", staticmethod(lambda text: Faults(point, fire=fire)))

        return armed

    def test_a_stream_of_a_prefix_ends_with_the_tables_of_one_ingest(
        self, served, tmp_path, fault, monkeypatch
    ):
        odd = {f"landing/{name}": render(synthetic(500 + at, 5)) for at, name in enumerate(self.odd)}
        first = {f"landing/1-{name}": data for name, data in FIRST.items()}
        second = {f"landing/2-{name}": data for name, data in SECOND.items()}
        damaged = {"landing/poisoned.journal": b"\x1f\x8b\x08\x00 no gzip at all, and longer than that"}
        ignored = {
            "landing/_hidden": b"x",
            "landing/.b/c.journal": b"x",
            "landing/_a=b/d": b"x",
            "landing2/e": b"x",
        }
        stated = write_manifest(
            [write_files(tmp_path / "stated", {"1-x": b""}) / "1-x"],
            dialect="sdmp",
            records_in=SDMP.count_records,
        )
        for key, content in (first | ignored).items():
            served.put(key, content)
        served.put(f"landing/{stated.name}", stated.read_bytes())
        prefix = f"{served.root}/landing"
        streamed, batch = strandline.open(tmp_path / "streamed"), strandline.open(tmp_path / "batch")
        for lake in (streamed, batch):
            lake.init(buckets=2)

        report = streamed.stream(prefix, dialect="sdmp", max_files=-(-len(first) // 2))
        assert report.counts["files"] == len(first)
        # Spark counts names that are left out, too.
        assert report.counts["batches"] in (2, 3)
        for key, content in (second | odd | damaged).items():
            served.put(key, content)
        fault("ingest.records")
        with pytest.raises(KilledBatchError):
            streamed.stream(prefix, dialect="sdmp")
        monkeypatch.undo()
        report = streamed.stream(f"{served.alias}/landing/", dialect="sdmp")
        assert report.counts["files"] == len(second) + len(odd) + 1
        assert report.reasons["CONTAINER_DAMAGED"] == 1

        batch.ingest(prefix, dialect="sdmp")
        batch.reduce()
        for query in (STATES, RECORDS, REJECTED):
            assert rows(streamed, query) == rows(batch, query)
        _, states = outcome_of(first | second | odd | damaged)
        assert dict(rows(streamed, STATES)) == states
        sources = {source for [source] in rows(streamed, "SELECT DISTINCT source FROM node_journal_line")}
        assert {f"{served.root}/{key}" for key in odd} <= sources
        # What one way has read, the other knows.
        known = batch.stream(prefix, dialect="sdmp").counts
        assert (known["new"], known["files"]) == (0, len(first | second | odd | damaged))
        assert streamed.stream(prefix, dialect="sdmp").counts["batches"] == 0

    def test_an_object_that_is_removed_after_it_was_listed_is_a_rejected_record(
        self, served, tmp_path, monkeypatch
    ):
        for number in (1, 2):
            served.put(f"moving/{number}.journal", render(synthetic(number, 5)))
        listed = stream_objects.listed

        def remove(*words):
            found = listed(*words)
            served.remove("moving/2.journal")
            return found

        monkeypatch.setattr(stream_objects, "listed", remove)
        lake = strandline.open(tmp_path / "lake")
        report = lake.stream(f"{served.root}/moving", dialect="sdmp")
        assert (report.counts["new"], report.reasons) == (5, {"FILE_UNREADABLE": 1})
        assert [row[0] for row in rows(lake, REJECTED)] == [f"{served.root}/moving/2.journal"]

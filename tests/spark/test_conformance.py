"""The dialects of this package keep the laws that every dialect owes."""

from dataclasses import astuple, fields

import pytest

from strandline.dialects import dialect
from strandline.dialects.sdmp.spark import few_lines, few_segments
from support import aura_corpus, devicelog_corpus, log_lakes, reference_rows
from support import aura_reference as facts
from support import devicelog_reference as devices
from support import ipfslog_reference as logs
from support.agreement import assert_admitted_equal, assert_reduced_equal
from support.conformance import Conformance, GoldenLake
from support.ipfslog_corpus import tampered, tampered_car
from support.lakes import counted
from support.random_deliveries import corpus as random_logs
from support.random_deliveries import packed
from support.random_journals import corpus as random_journals
from support.reference import Counts, ReferenceLake

NAMES = [field.name for field in fields(Counts)]


def demo(name):
    """The files of the demo of a dialect."""
    return {file.name: file.content for file in dialect(name).demo().files}


class TestSdmp(GoldenLake, Conformance):
    dialect = "sdmp"

    def corpus(self):
        first, second = random_journals(7, 250, 2)
        return first | demo(self.dialect), second

    def reference(self):
        return ReferenceLake()

    @pytest.fixture(autouse=True)
    def streams_take_the_joins(self, request, monkeypatch):
        # The other lakes are small: segments are placed and journals reduced in the driver.
        if request.function.__name__.startswith("test_a_stream"):
            monkeypatch.setattr(few_lines, "FEW_LINES", 0)
            monkeypatch.setattr(few_segments, "FEW_SEGMENTS", 0)

    spelled = ("n", "line_number", "author_fp", "resource_id")

    def is_implied(self, n, *_):
        return n == 1

    def is_in(self, content, _n, number, author, resource):
        return number is None or f"{number}@{author}/{resource}".encode() in content

    def assert_counted(self, report, counts):
        assert counted(report, NAMES) == dict(zip(NAMES, astuple(counts), strict=True))

    def assert_admitted(self, lake, reference):
        assert_admitted_equal(lake, reference)

    def assert_reduced(self, lake, reference):
        assert_reduced_equal(lake, reference)


class TestIpfslog(GoldenLake, Conformance):
    dialect = "ipfslog"
    ending = ".car"
    verified_again = 5

    def corpus(self):
        first, second = random_logs(11, 250, 2)
        tampered_files = {"tampered.jsonl": tampered(), "tampered.car": tampered_car()}
        return first | demo(self.dialect), second | tampered_files

    def packed(self, files):
        return packed(files)

    def reference(self):
        return logs.ReferenceLogs()

    def assert_counted(self, report, counts):
        assert logs.told(report) == counts

    def assert_admitted(self, lake, reference):
        logs.assert_admitted_equal(lake, reference)

    def assert_reduced(self, lake, reference):
        reduced = log_lakes.ReferenceLogs()
        reduced.enter(reference.accepted.entries.values(), reference.accepted.manifests.values())
        assert log_lakes.lake_tables(lake) == reduced.tables()


class TestAura(GoldenLake, Conformance):
    dialect = "aura"
    ending = ".jsonl"

    def corpus(self):
        first, second = aura_corpus.corpus(23, 120, 10)
        return first | demo(self.dialect), second

    def reference(self):
        return facts.ReferenceAura()

    def part(self, namespaces):
        """All authorities, which contexts need, and every second context."""
        contexts = [name for name in namespaces if name.startswith("context:")]
        return [name for name in namespaces if name not in contexts[1::2]]

    def assert_counted(self, report, counts):
        assert facts.told(report) == counts

    def assert_admitted(self, lake, reference):
        facts.assert_admitted_equal(lake, reference)

    def assert_reduced(self, lake, reference):
        reference_rows.assert_reduced_equal(lake, reference)


class TestDevicelog(GoldenLake, Conformance):
    dialect = "devicelog"
    ending = ".jsonl"
    verified_again = 1

    def corpus(self):
        first, second = devicelog_corpus.corpus(29, 60, 14)
        return first | demo(self.dialect), second

    def reference(self):
        return devices.ReferenceDeviceLogs()

    def assert_counted(self, report, counts):
        assert devices.told(report) == counts

    def assert_admitted(self, lake, reference):
        devices.assert_admitted_equal(lake, reference)

    def assert_reduced(self, lake, reference):
        reference_rows.assert_reduced_equal(lake, reference)

"""The laws that every dialect owes, as one pytest class: a dialect brings its corpus, its reference and its reasons.

    class TestChains(Conformance):
        dialect = "toy"
        def corpus(self): ...

Few Spark runs for all laws: each lake holds the whole corpus, a case is a namespace or a file of it.
"""

import shutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import pytest

from strandline.contracts.reasons import reasons
from support.golden import Recorder, agree, contents
from support.kills import KilledBatchError, batch_killed_at
from support.lakes import Lake, choose_buckets, write_files
from support.places import BUCKETS
from support.provenance import delivered

Files = Mapping[str, bytes]


class Lakes:
    """The lakes of one dialect, each made when a law first asks for it."""

    def __init__(self, kit: "Conformance", spark, settings, empty: Path, root: Path) -> None:
        self._kit, self._spark, self._settings, self._empty, self._root = kit, spark, settings, empty, root
        self.made: list[Lake] = []
        self.counts: list[Mapping[str, int]] = []
        self.run_ids: list[str] = []
        self.reference = kit.reference()
        self.recorder = Recorder(spark)

    def new(self, name: str, *, buckets: int = BUCKETS) -> Lake:
        """An empty lake with all tables."""
        lake = self._copy(self._with_tables, name)
        if buckets != BUCKETS:
            choose_buckets(self._root / name, buckets)
        self.made.append(lake)
        return lake

    @cached_property
    def _with_tables(self) -> Path:
        """The empty lake, with the tables that the dialect adds."""
        if not self._kit.adds_tables:
            return self._empty
        self._copy(self._empty, "empty").init()
        return self._root / "empty"

    def _copy(self, like: Path, name: str) -> Lake:
        shutil.copytree(like, self._root / name)
        return Lake(self._spark, self._settings, self._root / name, dialect=self._kit.dialect)

    def write(self, name: str, files: Files) -> Path:
        """A folder with these files."""
        return write_files(self._root / name, files)

    @cached_property
    def runs(self) -> list[Files]:
        """The corpus as it is delivered: files of each run."""
        return list(self._kit.corpus())

    @cached_property
    def landed(self) -> Lake:
        """The corpus, run by run, each reduced and compared with the reference."""
        lake = self.new("landed")
        for number, files in enumerate(self.runs):
            counts = self.reference.ingest(files)
            source = self.write(f"run{number}", self._kit.packed(files))
            report = self.recorder.run(f"ingest {number}", lake, lambda source=source: lake.ingest(source))
            self.counts.append(report.counts)
            self.run_ids.append(report.run_id)
            self._kit.assert_counted(report, counts)
            self._kit.assert_admitted(lake, self.reference)
            self.recorder.run(f"reduce {number}", lake, lake.reduce)
            self._kit.assert_reduced(lake, self.reference)
        return lake

    @cached_property
    def tables(self) -> dict[str, list[tuple]]:
        """What the corpus leaves in every table."""
        return self.landed.tables()


def held(lake: Lake) -> dict[str, list[tuple]]:
    """What a lake accepted and made of it, without the bucket, which follows the number of buckets of the lake."""
    from strandline.contracts.load import contract, tables

    return {
        table: lake.rows(table, *(name for name in contract(table).compared if name != "bucket"))
        for table in tables()
        if table not in ("run", "quarantine")
    }


class Conformance(ABC):
    """The laws. `waits` says that some records of the corpus go in only after others came.

    `adds_tables` says that the dialect has tables that the empty lake of the tests lacks.
    """

    dialect: ClassVar[str]
    waits: ClassVar[bool] = True
    adds_tables: ClassVar[bool] = False
    kills: ClassVar[tuple[str, ...]] = ("ingest.records", "reduce.before_state")

    @abstractmethod
    def corpus(self) -> Iterable[Files]:
        """Files by name, decompressed, for each run: damaged and tampered ones, some delivered twice."""

    @abstractmethod
    def reference(self) -> Any:
        """A lake in plain Python: `ingest(files)` returns counts."""

    @abstractmethod
    def assert_admitted(self, lake: Lake, reference: Any) -> None:
        """Record tables and quarantine are those of the reference."""

    @abstractmethod
    def assert_reduced(self, lake: Lake, reference: Any) -> None:
        """Reduced tables are those of the reference."""

    @abstractmethod
    def assert_counted(self, report: Any, counts: Any) -> None:
        """The report counts as the reference does."""

    def packed(self, files: Files) -> Files:
        """The files as they lie in folders."""
        return files

    @pytest.fixture(scope="class")
    def lakes(self, spark, settings, empty_lakes, tmp_path_factory) -> Iterator[Lakes]:
        made = Lakes(self, spark, settings, empty_lakes[False], tmp_path_factory.mktemp(self.dialect))
        yield made
        for lake in made.made:
            lake.assert_sound()

    def test_spark_admits_and_reduces_what_the_reference_does_run_by_run(self, lakes):
        assert lakes.landed
        total: Counter[str] = Counter()
        for counts in lakes.counts:
            assert counts["read"] == sum(counts[name] for name in ("new", "known", "rejected", "deferred"))
            total.update(counts)
        assert all(total[name] for name in ("new", "known", "rejected", "deferred"))
        assert bool(total["readmitted"]) == self.waits

    spelled: ClassVar[tuple[str, ...]] = ()
    """Columns of the record table that `is_in` reads; empty if files encode records in other forms."""

    def is_in(self, content: bytes, *spelled: Any) -> bool:
        """Whether a file has the record of these columns; true if files encode records in other forms."""
        return True

    def test_every_record_has_the_file_the_run_and_the_time_of_its_delivery(self, lakes):
        from strandline.dialects import infos

        rows = delivered(lakes.landed, infos()[self.dialect].record_table, *self.spelled)
        waited = 0
        for *spelled, source, run in rows:
            if source is None:
                assert self.is_implied(*spelled)
                continue
            number = int(Path(source).parent.name.removeprefix("run"))
            assert self.is_in(Path(source).read_bytes(), *spelled)
            assert number <= lakes.run_ids.index(run)
            waited += number < lakes.run_ids.index(run)
        assert bool(waited) == self.waits
        for table in infos()[self.dialect].side_tables:
            assert all(Path(source).is_file() for source, _ in delivered(lakes.landed, table))

    def is_implied(self, *spelled: Any) -> bool:
        """True for a record that follows from its namespace, so that no file needs to have it."""
        return False

    def test_the_id_of_each_record_is_the_hash_of_what_a_proof_has(self, lakes):
        from strandline.dialects import dialect

        spoken = dialect(self.dialect)
        rows = lakes.landed.store().read(spoken.info.record_table).collect()
        wrong = [
            row["record_id"].hex()
            for row in rows
            if sha256(spoken.hashed_content(row.asDict())).digest() != bytes(row["record_id"])
        ]
        assert (bool(rows), wrong) == (True, [])

    def test_everything_reduced_again_changes_no_row(self, lakes):
        landed = lakes.landed
        report = lakes.recorder.run("reduce --full", landed, lambda: landed.reduce(full=True))
        assert report.members["differences"] == {}

    verified_again: ClassVar[int] = 0
    """Signatures of the last run that are verified each time it comes: of records that were not accepted."""

    def test_what_comes_again_is_known_and_verified_by_nobody(self, lakes):
        before = lakes.tables
        landed, source = lakes.landed, lakes.write("again", self.packed(lakes.runs[-1]))
        report = lakes.recorder.run("ingest again", landed, lambda: landed.ingest(source))
        assert (report.counts["new"], report.counts["readmitted"]) == (0, 0)
        assert report.counts.get("signatures_verified", 0) == self.verified_again
        assert lakes.landed.tables() == before
        # A MERGE may commit and insert nothing; quarantine counts how often a record was seen.
        inserted = {table: change.inserted for table, change in report.tables.items() if change.inserted}
        assert set(inserted) <= {"quarantine"}

    def test_rejected_rows_judged_again_by_the_same_rules_stay_as_they_are(self, lakes):
        before = lakes.tables
        landed = lakes.landed
        report = lakes.recorder.run("replay", landed, lambda: landed.ingest(from_quarantine=True))
        replayed = report.members["replayed"]
        assert sum(each["rows"] for each in replayed.values()) > 0
        assert all(each["rows"] == each["unchanged"] for each in replayed.values())
        assert lakes.landed.tables() == before

    @pytest.fixture
    def large(self, monkeypatch) -> None:
        """No table counts as small: Spark plans adaptively and runs as many tasks as in a large lake."""
        from strandline.tables.small_tables import SmallTables

        monkeypatch.setattr(SmallTables, "is_small", lambda *_: False)

    def test_a_stream_that_is_killed_and_gets_all_in_another_order_ends_with_the_same_tables(
        self, lakes, large
    ):
        lake, expected = lakes.new("streamed"), lakes.tables
        files = {
            f"{9 - number}-{name}": content
            for number, run in enumerate(lakes.runs)
            for name, content in self.packed(run).items()
        }
        landing = lakes.write("landing", files)
        for point in self.kills:
            with pytest.raises(KilledBatchError):
                lake.stream(landing, faults=batch_killed_at(point))
        lakes.recorder.run("stream", lake, lambda: lake.stream(landing))
        assert lake.tables() == expected
        assert {source and str(Path(source).parent) for source in self.sources(lake)} <= {str(landing), None}

    def sources(self, lake: Lake) -> set[str | None]:
        """Sources of the records of a lake."""
        from strandline.dialects import infos

        return {source for source, _ in delivered(lake, infos()[self.dialect].record_table)}

    def part(self, namespaces: list[str]) -> list[str]:
        """Some of the namespaces of a lake, ascending, whose records need none of the others."""
        return namespaces[::2]

    def test_what_is_exported_and_what_another_lake_brings_make_the_same_sets_and_states(self, lakes, large):
        lake, expected = lakes.new("moved", buckets=3), held(lakes.landed)
        namespaces = sorted({name for [name] in lakes.landed.rows("namespace_state", "namespace")})
        out = lakes.write("out", {}) / f"half{self.ending}"
        out.parent.mkdir()
        lakes.recorder.run("export", lake, lambda: lakes.landed.export(out, *self.part(namespaces)))
        report = lake.ingest(out, require_manifest=True)
        assert (report.counts["new"], report.counts["rejected"]) == (report.counts["read"], 0)
        brought = lakes.recorder.run("sync --from", lake, lambda: lake.bring(lakes.landed))
        assert brought.counts["missing"] == brought.counts["new"] + brought.counts["known"] > 0
        assert held(lake) == expected
        assert self.sources(lake) - {None} == {str(out), str(lakes.landed.path)}
        assert lake.rows("quarantine") == []
        assert lake.bring(lakes.landed, dry_run=True).counts["missing"] == 0

    ending: ClassVar[str] = ""
    """How the name of an exported file ends, where that tells its format."""

    def test_every_reason_of_a_row_is_explained(self, lakes):
        explained = [reasons()[code] for code in reasons_met(lakes)]
        assert explained
        assert all(each.meaning and each.advice for each in explained)


def reasons_met(lakes):
    """The reasons of the rows of quarantine."""
    return {code for [codes] in lakes.landed.rows("quarantine", "reasons") for code in codes}


class GoldenLake:
    """What else holds of the dialects of this package: the rows and the costs of the lake are those that are stored."""

    def test_every_reason_of_a_row_is_one_of_the_dialect(self, lakes):
        assert all({self.dialect, "all"} & {*reasons()[code].dialects} for code in reasons_met(lakes))

    def test_the_lake_has_the_rows_and_cost_the_jobs_that_are_stored(self, lakes):
        found = {"commands": lakes.recorder.commands, "tables": contents(lakes.tables)}
        assert len(found["commands"]) == 10, "the laws before this one run the commands"
        agree(self.dialect, found)

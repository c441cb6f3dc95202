"""Two reductions at once, one of which deletes rows that no record gives."""

import shutil

import pytest

from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.pipelines.faults import Faults
from strandline.pipelines.reduction_writer import ReductionWriter
from strandline.tables.store import TableStore
from support.agreement import assert_admitted_equal, assert_reduced_equal
from support.lakes import write_files
from support.reference import ReferenceLake

LINES = "node_journal_line"


class Beside:
    """A lake with one journal that stays, its reference, and reductions that read an older version of the lines."""

    def __init__(self, lake, monkeypatch, root, *, is_reduced=True):
        self.lake, self.reference = lake, ReferenceLake()
        self._monkeypatch, self._root = monkeypatch, root
        self.ingest(1)
        if is_reduced:
            lake.reduce()
        self.version = lake.versions()[LINES]

    def ingest(self, number: int, *, stays: bool = True) -> None:
        """A journal of ten lines; the reference has it if it stays."""
        files = {f"{number}.journal": render(list(synthetic(number, 10)))}
        if stays:
            self.reference.ingest(files)
        self.lake.ingest(write_files(self._root / f"{number}", files))

    def restore(self) -> None:
        """RESTORE the lines to those of the journal that stays."""
        self.lake.damage(f"RESTORE TABLE {LINES} TO VERSION AS OF {self.version}")

    def reduce_at(self, version: int, of=TableStore.version) -> None:
        """Reduce as a run that began at this version of the lines."""
        with self._monkeypatch.context() as began:
            began.setattr(
                TableStore, "version", lambda store, table: version if table == LINES else of(store, table)
            )
            self.lake.reduce()

    def assert_settled(self) -> None:
        """The rows are those of the reference, and after one more reduction nothing is left to do."""
        assert_admitted_equal(self.lake, self.reference)
        assert_reduced_equal(self.lake, self.reference)
        self.lake.reduce()
        before = self.lake.versions()
        assert self.lake.reduce(full=True).members["differences"] == {}
        assert self.lake.versions() == before


def test_what_a_restore_removed_after_it_was_read_has_no_journal_although_another_run_is_past_the_restore(
    new_lake, monkeypatch, tmp_path
):
    beside = Beside(new_lake(), monkeypatch, tmp_path)
    beside.ingest(2, stays=False)

    def restored(writer, reduction, write=ReductionWriter.write):
        monkeypatch.undo()
        beside.restore()
        # No state changes: that it ends after the RESTORE, only its UPDATE of the states tells.
        beside.lake.reduce()
        write(writer, reduction)

    monkeypatch.setattr(ReductionWriter, "write", restored)
    beside.lake.reduce()
    beside.assert_settled()


@pytest.mark.parametrize("is_reduced", [True, False], ids=["later", "first"])
def test_a_reduction_after_a_restore_deletes_what_one_that_read_the_removed_lines_wrote_meanwhile(
    new_lake, monkeypatch, tmp_path, is_reduced
):
    beside = Beside(new_lake(), monkeypatch, tmp_path, is_reduced=is_reduced)
    beside.ingest(2, stays=False)
    removed = beside.lake.versions()[LINES]
    beside.restore()
    # It has deleted what no line gives, and has written no state yet.
    beside.lake.reduce(faults=Faults("reduce.before_state", fire=lambda: beside.reduce_at(removed)))
    beside.assert_settled()


def test_a_table_that_was_made_anew_beside_a_reduction_has_all_rows_again(new_lake, monkeypatch, tmp_path):
    beside = Beside(new_lake(), monkeypatch, tmp_path)
    beside.ingest(2)

    def made_anew() -> None:
        shutil.rmtree(beside.lake.path / "node_journal")
        beside.lake.init()

    # It has written its rows of the second journal, and no state yet.
    beside.lake.reduce(faults=Faults("reduce.before_state", fire=made_anew))
    beside.assert_settled()


def test_a_reduction_after_a_restore_keeps_the_newer_journal_of_another_run(new_lake, monkeypatch, tmp_path):
    beside = Beside(new_lake(), monkeypatch, tmp_path)
    beside.ingest(2, stays=False)
    beside.lake.reduce()
    beside.restore()

    def grown() -> None:
        beside.ingest(3)
        beside.lake.reduce()

    # It has read the lines, and deletes what these do not give after the other run has ended.
    beside.lake.reduce(faults=Faults("reduce.node_journal", fire=grown))
    beside.assert_settled()


def test_a_journal_that_another_run_deletes_before_its_state_is_written_is_written_again(
    new_lake, monkeypatch, tmp_path
):
    beside = Beside(new_lake(), monkeypatch, tmp_path)
    beside.ingest(2)

    def repaired() -> None:
        # The other run takes this one for a killed run, and repairs a state, so that its states are no empty commit.
        beside.lake.damage("UPDATE namespace_state SET record_count = record_count + 1")
        beside.reduce_at(beside.version)
        assert beside.lake.rows("node_journal", "line_count") == [(10,)]

    beside.lake.reduce(faults=Faults("reduce.before_state", fire=repaired))
    beside.assert_settled()

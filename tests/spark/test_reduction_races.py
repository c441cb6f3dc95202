"""Two reductions at once, one of which deletes rows that no record gives."""

from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.pipelines.reduction_writer import ReductionWriter
from support.agreement import assert_admitted_equal, assert_reduced_equal
from support.lakes import write_files
from support.reference import ReferenceLake

LINES = "node_journal_line"


def test_what_a_restore_removed_after_it_was_read_has_no_journal_although_another_run_is_past_the_restore(
    new_lake, monkeypatch, tmp_path
):
    lake, reference = new_lake(), ReferenceLake()
    kept = {"kept.journal": render(list(synthetic(1, 10)))}
    reference.ingest(kept)
    lake.ingest(write_files(tmp_path / "kept", kept))
    lake.reduce()
    version = lake.versions()[LINES]
    lake.ingest(write_files(tmp_path / "gone", {"gone.journal": render(list(synthetic(2, 10)))}))

    def restored(writer, reduction, write=ReductionWriter.write):
        monkeypatch.undo()
        lake.damage(f"RESTORE TABLE {LINES} TO VERSION AS OF {version}")
        # No state changes: that it ends after the RESTORE, only its UPDATE of the states tells.
        lake.reduce()
        write(writer, reduction)

    monkeypatch.setattr(ReductionWriter, "write", restored)
    lake.reduce()
    assert_admitted_equal(lake, reference)
    assert_reduced_equal(lake, reference)
    before = lake.versions()
    assert lake.reduce(full=True).members["differences"] == {}
    assert lake.versions() == before

"""What a reduction does about commits of other runs, without Spark."""

from types import SimpleNamespace

import pytest

from strandline.core.errors import FaultError
from strandline.dialects import dialect
from strandline.pipelines import reduce
from strandline.pipelines.reduce_result import ReduceResult
from strandline.pipelines.reducer_options import ReducerOptions
from strandline.pipelines.reduction_writer import ReductionWriter
from strandline.tables.commits import METADATA_OF_COMMIT

LINES, STATES = "node_journal_line", "namespace_state"


def writer_at(current, *, replaced=False, others=True):
    """A writer that reduced version 8 of the lines, which have the version `current` now."""
    commits = [{"version": version, METADATA_OF_COMMIT: run} for version, run in ((4, "ours"), (3, "theirs"))]
    if others:
        commits.insert(0, {"version": 5, METADATA_OF_COMMIT: "theirs", "operation": "UPDATE"})
    store = SimpleNamespace(
        run_id="ours",
        version=lambda table: {STATES: 3, LINES: current}[table],
        newest_commits={STATES: commits}.__getitem__,
        was_replaced=lambda table, *versions: (table, versions) == (LINES, (8, current)) and replaced,
    )
    done = ReduceResult(read_versions={LINES: 8})
    return ReductionWriter(store, dialect("sdmp"), None, None, done)


@pytest.mark.parametrize(
    ("current", "replaced", "others", "overlaps", "expected"),
    [
        (9, True, True, False, (True, True)),
        (2, False, True, False, (True, True)),
        (9, False, True, False, (False, False)),
        (9, False, True, True, (True, False)),
        (9, True, False, True, (False, False)),
    ],
    ids=["restored", "made anew", "other states", "same states", "alone"],
)
def test_records_that_were_replaced_beside_another_run_are_reduced_again_and_strays_deleted(
    monkeypatch, current, replaced, others, overlaps, expected
):
    writer = writer_at(current, replaced=replaced, others=others)
    monkeypatch.setattr(writer, "_overlaps", lambda *_: overlaps)
    writer._look_for_others(None, None)
    assert (writer.is_overtaken, writer.deletes_strays) == expected


@pytest.fixture
def rounds(monkeypatch):
    """A function that runs a reduction whose rounds end so: what each was asked."""

    def run(*ends):
        asked, ending = [], iter(ends)

        def once(_, writer, **given):
            asked.append((given["whole"], given["deletes_strays"]))
            writer.is_overtaken, writer.deletes_strays = next(ending)
            return not writer.is_overtaken

        monkeypatch.setattr(reduce._DialectReduction, "_reduce", once)
        context = SimpleNamespace(progress=SimpleNamespace(note=print))
        store = SimpleNamespace(version=lambda _: 3)
        reduce._DialectReduction(
            store, dialect("sdmp"), reduce.ReduceRequest(), ReducerOptions(), context, None, ReduceResult()
        ).run()
        return asked

    return run


def test_strays_are_deleted_until_a_round_has_no_other_run_beside_it(rounds):
    assert rounds((False, True)) == [(False, False)]
    assert rounds((True, False), (False, False)) == [(False, False), (True, False)]
    asked = rounds((True, True), (True, False), (False, True))
    assert asked == [(False, False), (True, True), (True, True)]


def test_rounds_end_although_other_runs_do_not(rounds):
    with pytest.raises(FaultError, match="5 times in a row"):
        rounds(*[(True, True)] * (reduce.ROUNDS + 1))

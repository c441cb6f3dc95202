"""What a reduction does about commits of other runs, without Spark."""

from types import SimpleNamespace

import pytest

from strandline.core.errors import FaultError
from strandline.dialect_api.reduction import InMemory, Reduction
from strandline.dialects import dialect
from strandline.pipelines import dialect_reduction, reduction_writer
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.reduce_result import ReduceResult
from strandline.pipelines.reducer_options import ReducerOptions
from strandline.pipelines.reduction_writer import ReductionWriter
from strandline.pipelines.report import SomeNamespaces
from strandline.tables.commits import METADATA_OF_COMMIT
from strandline.tables.written import Written

LINES, STATES = "node_journal_line", "namespace_state"


def writer_at(current, *, replaced=False, others=True):
    """A writer that reduced version 8 of the lines, which have the version `current` now."""
    commits = [{"version": version, METADATA_OF_COMMIT: run} for version, run in ((4, "ours"), (3, "theirs"))]
    if others:
        commits.insert(0, {"version": 5, METADATA_OF_COMMIT: "theirs", "operation": "UPDATE"})
    store = SimpleNamespace(
        run_id="ours",
        version=lambda table: {STATES: 3, LINES: current}[table],
        commits_after=lambda table, since: [
            each for each in {STATES: commits}[table] if each["version"] > since
        ],
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
    monkeypatch.setattr(writer, "_is_restarted", lambda: False, raising=False)
    writer._look_for_others(None, None)
    assert (writer.is_overtaken, writer.deletes_strays) == expected


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_table_that_was_made_anew_beside_a_reduction_is_reduced_from_nothing(monkeypatch, is_restarted):
    """`init` has set the versions of the states to 0. Those of this run name another one, and the greatest counts."""
    asked = []
    states = SimpleNamespace(where=lambda _: "restarted")
    monkeypatch.setattr(reduction_writer, "F", SimpleNamespace(col=lambda _: Column()))
    writer = writer_at(9)
    writer._store.read_version = lambda table, version: asked.append((table, version)) or states
    writer._jobs = SimpleNamespace(has_rows=lambda rows: rows == "restarted" and is_restarted)
    monkeypatch.setattr(writer, "_overlaps", lambda *_: False)
    writer._look_for_others(None, None)
    assert (writer.is_overtaken, writer.deletes_strays) == (is_restarted, is_restarted)
    assert asked == [(STATES, 5)]


class Column:
    """A column of which all conditions are alike."""

    def __eq__(self, _):
        return self

    def __and__(self, _):
        return self

    __hash__ = None


@pytest.fixture
def rounds(monkeypatch):
    """A function that runs a reduction whose rounds end so: what each was asked."""

    def run(*ends):
        asked, ending = [], iter(ends)

        def once(_, writer, **given):
            asked.append((given["whole"], given["deletes_strays"]))
            writer.is_overtaken, writer.deletes_strays = next(ending)
            return not writer.is_overtaken

        monkeypatch.setattr(dialect_reduction.DialectReduction, "_reduce", once)
        context = SimpleNamespace(progress=SimpleNamespace(note=print))
        store = SimpleNamespace(version=lambda _: 3)
        dialect_reduction.DialectReduction(
            store, dialect("sdmp"), ReduceRequest(), ReducerOptions(), context, None, ReduceResult()
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
        rounds(*[(True, True)] * (dialect_reduction.ROUNDS + 1))


def written_by(monkeypatch, strays, *, others):
    """What a writer that replaces all does, in order, and whether it is overtaken: by states that were there before."""
    done = []

    def said(name, result):
        return lambda *_, **__: done.append(name) or result

    store = SimpleNamespace(
        version=lambda _: 3, touch=said("touch", Written(5)), replace=said("states", Written(6, updated=1))
    )
    context = SimpleNamespace(
        faults=SimpleNamespace(reach=print), progress=SimpleNamespace(stage=lambda _: None)
    )
    states = SimpleNamespace(withColumn=lambda *_: None)
    monkeypatch.setattr(reduction_writer, "F", SimpleNamespace(current_timestamp=lambda: None))
    monkeypatch.setattr(reduction_writer, "with_nulls", lambda *_: states)
    monkeypatch.setattr(reduction_writer, "delete_strays", said("strays", strays))
    writer = ReductionWriter(store, dialect("sdmp"), context, None, ReduceResult())
    monkeypatch.setattr(writer, "others_reduced", lambda: others, raising=False)
    monkeypatch.setattr(writer, "_look_for_others", said("look", None))
    writer.write_all(Reduction({}, states, in_memory=InMemory(0, ())))
    return done, writer.is_overtaken


@pytest.mark.parametrize(
    ("strays", "others", "expected"),
    [
        ({}, False, ["strays", "states", "look"]),
        ({"node_journal": Written(4, deleted=1)}, False, ["strays", "touch", "states", "look"]),
        ({"node_journal": Written(4, deleted=1)}, True, ["states", "look"]),
    ],
    ids=["no stray rows", "stray rows", "new states"],
)
def test_other_runs_find_that_stray_rows_were_deleted_and_rows_below_new_states_are_not(
    monkeypatch, strays, others, expected
):
    assert written_by(monkeypatch, strays, others=others) == (expected, others)


@pytest.mark.parametrize("deletes_strays", [False, True])
def test_a_writer_that_deletes_strays_is_overtaken_by_states_that_it_does_not_write(
    monkeypatch, deletes_strays
):
    new = SimpleNamespace(join=lambda *_: None)
    writer = writer_at(8)
    writer.deletes_strays = deletes_strays
    writer._jobs = SimpleNamespace(has_rows=lambda frame: frame is new)
    writer._store.is_merged_by_others = lambda *_: True
    writer._store.is_touched_by_others = lambda *_: False
    monkeypatch.setattr(writer, "_new_states", lambda _: new)
    states = SimpleNamespace(select=lambda _: None)
    assert writer._overlaps(states, Written(6)) == deletes_strays


def test_a_first_reduction_beside_another_one_is_repeated_with_its_strays_deleted(monkeypatch):
    """The other one may have read the records before a RESTORE: its rows of records that are gone have new states."""
    before, wrote = iter([None, 5, 5]), []

    class Writer(SimpleNamespace):
        def __init__(self, *_):
            super().__init__(is_overtaken=False, deletes_strays=False)

        def write(self, _, *, replaces_all):
            wrote.append(replaces_all)
            self.is_overtaken = True

        def write_all(self, _):
            wrote.append("all")

    monkeypatch.setattr(dialect_reduction, "ReductionWriter", Writer)
    monkeypatch.setattr(dialect_reduction, "reduced_before", lambda *_: (next(before), 1))
    monkeypatch.setattr(dialect_reduction, "was_recreated", lambda *_: False)
    sdmp = SimpleNamespace(info=dialect("sdmp").info, reduce=lambda *_: None)
    store = SimpleNamespace(version=lambda _: 5, begin_repair=lambda _: False, note_repaired=lambda *_: None)
    context = SimpleNamespace(progress=SimpleNamespace(note=print, stage=print))
    reduction = dialect_reduction.DialectReduction(
        store, sdmp, ReduceRequest(), ReducerOptions(), context, None, ReduceResult()
    )
    monkeypatch.setattr(reduction, "_scope", lambda *_: SimpleNamespace(version=5, side_versions={}))
    reduction.run()
    assert wrote == [False, "all"]


@pytest.mark.parametrize(
    ("new", "touched", "expected"),
    [(True, False, True), (False, True, True), (False, False, False)],
    ids=["states of this dialect", "rows without states", "states of another dialect"],
)
def test_what_differs_in_a_full_reduction_may_be_newer_only_if_another_run_wrote_rows_of_its_dialect(
    monkeypatch, new, touched, expected
):
    """Else streams of other dialects would end `reduce --full` with a conflict that nobody had."""
    store = SimpleNamespace(version=lambda _: 8)
    aura = SimpleNamespace(info=dialect("aura").info, reduce=lambda *_: Reduction({}, None))
    done = ReduceResult(read_versions={"aura_fact": 8})
    reduction = dialect_reduction.DialectReduction(
        store, aura, ReduceRequest(full=True), ReducerOptions(), None, None, done
    )
    reduction._context = SimpleNamespace(progress=SimpleNamespace(stage=lambda _: None))
    scope = SimpleNamespace(version=8, side_versions={})
    monkeypatch.setattr(reduction, "_scope", lambda *_: scope)
    monkeypatch.setattr(reduction, "_why_all", lambda *_: None)
    monkeypatch.setattr(reduction, "_reduce_new", lambda *_: None)
    monkeypatch.setattr(dialect_reduction, "reduced_before", lambda *_: (8, 1))
    monkeypatch.setattr(dialect_reduction, "replace", lambda *_, **__: scope)
    monkeypatch.setattr(
        dialect_reduction, "differences", lambda *_: {"attested_op": SomeNamespaces(("authority:1",), 1)}
    )
    writer = ReductionWriter(store, aura, None, SimpleNamespace(has_rows=lambda _: new), done)
    store.run_id = "ours"
    store.is_merged_by_others = lambda *_: True
    store.is_touched_by_others = lambda *_: touched
    monkeypatch.setattr(writer, "_new_states", lambda _: None)
    written = []
    monkeypatch.setattr(writer, "write_all", written.append)
    assert reduction._reduce(writer, whole=False, deletes_strays=False) is not expected
    assert bool(written) is not expected
    assert bool(done.differences) is not expected


@pytest.mark.parametrize(
    ("named", "advanced"),
    [(6, [(6, 8)]), (3, [(3, 8)]), (None, []), (7, []), (8, [])],
    ids=["as before", "the state that named it is gone", "no state is left", "another run", "this run"],
)
def test_after_everything_was_reduced_a_state_names_the_version_also_if_the_newest_one_is_gone(
    monkeypatch, named, advanced
):
    found = []
    monkeypatch.setattr(dialect_reduction, "reduced_before", lambda *_: (named, 1))
    monkeypatch.setattr(dialect_reduction, "was_recreated", lambda *_: False)
    monkeypatch.setattr(dialect_reduction, "advance_reduced_version", lambda *args: found.append(args[2:4]))
    sdmp = SimpleNamespace(info=dialect("sdmp").info, reduce=lambda *_: None)
    noted = {}
    store = SimpleNamespace(version=lambda table: 5, note_repaired=noted.setdefault)
    reduction = dialect_reduction.DialectReduction(
        store, sdmp, ReduceRequest(), ReducerOptions(), None, None, ReduceResult()
    )
    writer = SimpleNamespace(write_all=print, is_overtaken=False, others_reduced=lambda: False)
    reduction._write_all(writer, SimpleNamespace(version=8), 6)
    assert found == advanced
    # The row of the run says that it has repaired what killed runs left in these tables.
    assert noted == dict.fromkeys(sdmp.info.reduced_tables, 5)

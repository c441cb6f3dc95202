"""What a run refused is asked for by later runs, also if they have no new record."""

from types import SimpleNamespace

import pytest

from strandline.dialect_api.reduction import Reduction
from strandline.dialect_api.refusals import MOST_NAMED, Refused
from strandline.dialect_api.removed import snapshot_lost
from strandline.dialects import dialect
from strandline.pipelines import dialect_reduction, reducer_options
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.reduce_result import ReduceResult
from strandline.pipelines.reducer_options import ReducerOptions

LOST = "authority:00000000-0000-4000-8000-000000000001"


@pytest.fixture
def asked(monkeypatch):
    """A function that reduces so many new records: what the dialect was given, and which versions were advanced."""
    given, advanced = [], []
    monkeypatch.setattr(dialect_reduction, "changes_since", lambda *args: ("changes", new_records[-1]))
    monkeypatch.setattr(
        dialect_reduction, "advance_reduced_version", lambda *args: advanced.append(args[2:4])
    )
    new_records = []

    def run(new, retry=(), refused=None, changed=False):
        new_records.append(new)
        found = Reduction({}, None, refused=refused)
        aura = SimpleNamespace(
            info=dialect("aura").info, reduce=lambda changes, *_: given.append(changes) or found
        )
        store = SimpleNamespace(may_have_added=lambda *_: True, begin_repair=lambda *_, **__: False)
        context = SimpleNamespace(progress=SimpleNamespace(stage=print, note=print))
        reduction = dialect_reduction.DialectReduction(
            store, aura, ReduceRequest(), ReducerOptions(), context, None, ReduceResult()
        )
        writer = SimpleNamespace(write=lambda _: None, has_changed_states=changed, is_overtaken=False)
        scope = SimpleNamespace(version=8, retry_namespaces=retry)
        reduction._reduce_new(writer, scope, 5, 10)
        return given, advanced

    return run


def test_refused_namespaces_are_reduced_without_a_new_record(asked):
    assert asked(0, retry=(LOST,))[0] == ["changes"]


def test_without_a_refusal_and_a_new_record_nothing_is_reduced(asked):
    assert asked(0) == ([], [(5, 8)])


def test_records_of_refused_namespaces_alone_do_not_count_as_read(asked):
    refused = Refused((snapshot_lost(LOST),), 1, None)
    assert asked(3, refused=refused) == (["changes"], [])


@pytest.mark.parametrize(
    ("name", "pruned", "retried"),
    [("aura", 1, (LOST,)), ("aura", 0, None), ("sdmp", 1, None), ("ipfslog", 0, ())],
    ids=["aura", "nothing pruned", "keeps all", "has an option"],
)
def test_runs_are_read_only_where_a_namespace_can_have_been_refused(monkeypatch, name, pruned, retried):
    newest = {f"refused {name}": ("run", [LOST, "log:a"][:pruned])}
    monkeypatch.setattr(reducer_options, "_newest", lambda *_: newest)
    store = SimpleNamespace(stored_bytes=lambda table: {"pruned_record": pruned}[table])
    found = reducer_options.resolve(store, (dialect(name),), {})
    assert found.retry_namespaces.get(name) == retried


def test_runs_are_read_without_a_pruned_record_where_a_lost_one_that_others_name_is_a_refusal(monkeypatch):
    newest = {"refused devicelog": ("run", ["group:a", "log:a"]), "refused sdmp": ("run", ["node:a"])}
    monkeypatch.setattr(reducer_options, "_newest", lambda *_: newest)
    store = SimpleNamespace(stored_bytes=lambda _: 0)
    asked = [dialect(name) for name in ("sdmp", "devicelog")]
    found = reducer_options.resolve(store, asked, {})
    assert found.retry_namespaces["devicelog"] == ("group:a",)


def resolved(monkeypatch, names):
    """The options of a run after one that refused so many namespaces of aura, and a log."""
    newest = {"refused aura": ("run", [*names, "log:a"])}
    monkeypatch.setattr(reducer_options, "_newest", lambda *_: newest)
    return reducer_options.resolve(SimpleNamespace(stored_bytes=lambda _: 1), (dialect("aura"),), {})


@pytest.mark.parametrize(("count", "retries_all"), [(MOST_NAMED - 1, set()), (MOST_NAMED, {"aura"})])
def test_after_a_row_that_may_not_name_all_refused_namespaces_everything_is_reduced(
    monkeypatch, count, retries_all
):
    names = [f"authority:{number:05}" for number in range(count)]
    found = resolved(monkeypatch, names)
    assert found.retry_all == retries_all
    assert found.retry_namespaces.get("aura", ()) == (() if retries_all else tuple(names))
    store = SimpleNamespace(version=lambda _: 5, was_replaced=lambda *_: False)
    monkeypatch.setattr(dialect_reduction, "was_recreated", lambda *_: False)
    monkeypatch.setattr(dialect_reduction, "has_stale_states", lambda *_: False)
    reduction = dialect_reduction.DialectReduction(
        store, dialect("aura"), ReduceRequest(), found, None, None, ReduceResult()
    )
    assert bool(reduction._why_all(5, 5)) == bool(retries_all)


def test_a_row_names_the_first_refused_namespaces_of_each_dialect_and_counts_all():
    lost = Refused((snapshot_lost("log:b"), snapshot_lost("log:c")), 100_000, None)
    others = Refused((snapshot_lost(LOST),), 1, None)
    assert reducer_options.refused_members([lost, others]) == {
        "refused": [LOST, "log:b", "log:c"], "refused_total": 100_001
    }  # fmt: skip
    assert reducer_options.refused_members([]) == {"refused": [], "refused_total": 0}


def test_the_newest_reduction_of_a_dialect_tells_what_was_refused():
    done = ReduceResult()
    done.note_refused("aura", Refused((snapshot_lost(LOST),), 1, None))
    more = Refused((snapshot_lost(LOST),), 7, None)
    done.note_refused("aura", more)
    assert done.refused == {"aura": more}
    done.note_refused("aura", None)
    assert done.refused == {}

"""What a run refused is asked for by later runs, also if they have no new record."""

from types import SimpleNamespace

import pytest

from strandline.dialect_api.reduction import Reduction
from strandline.dialect_api.removed import snapshot_lost
from strandline.dialects import dialect
from strandline.pipelines import reduce, reducer_options
from strandline.pipelines.reduce_result import ReduceResult
from strandline.pipelines.reducer_options import ReducerOptions

LOST = "authority:00000000-0000-4000-8000-000000000001"


@pytest.fixture
def asked(monkeypatch):
    """A function that reduces so many new records: what the dialect was given, and which versions were advanced."""
    given, advanced = [], []
    monkeypatch.setattr(reduce, "changes_since", lambda *args: ("changes", new_records[-1]))
    monkeypatch.setattr(reduce, "advance_reduced_version", lambda *args: advanced.append(args[2:4]))
    new_records = []

    def run(new, retry=(), refused=(), changed=False):
        new_records.append(new)
        found = Reduction({}, None, refused=refused)
        aura = SimpleNamespace(
            info=dialect("aura").info, reduce=lambda changes, *_: given.append(changes) or found
        )
        store = SimpleNamespace(may_have_added=lambda *_: True, begin_repair=lambda *_, **__: False)
        context = SimpleNamespace(progress=SimpleNamespace(stage=print, note=print))
        reduction = reduce._DialectReduction(
            store, aura, reduce.ReduceRequest(), ReducerOptions(), context, None, ReduceResult()
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
    assert asked(3, refused=(snapshot_lost(LOST),)) == (["changes"], [])


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

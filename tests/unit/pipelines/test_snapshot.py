"""What `snapshot` says of dialects that keep their records, without Spark."""

from types import SimpleNamespace

import pytest

from strandline.dialects import every
from strandline.pipelines import snapshot
from strandline.pipelines.named_namespaces import Named
from strandline.pipelines.prune_plans import PruneRequest


@pytest.mark.parametrize(
    ("dialects", "chosen", "expected"),
    [
        ((), (), []),
        ((), ("devicelog",), ["devicelog"]),
        ((), ("ipfslog", "sdmp"), ["sdmp"]),
        (("devicelog", "aura"), (), ["devicelog"]),
    ],
)
def test_named_dialects_that_keep_their_records_are_told(monkeypatch, dialects, chosen, expected):
    notes = []
    names = Named(dict.fromkeys(chosen, ("a namespace",)), {})
    monkeypatch.setattr(snapshot.lake, "check_there", lambda _: None)
    monkeypatch.setattr(snapshot.named_namespaces, "named", lambda *_: names)
    monkeypatch.setattr(snapshot, "record_run", lambda _, __, result: result)
    context = SimpleNamespace(progress=SimpleNamespace(note=notes.append))
    store = SimpleNamespace(stored_bytes=lambda _: 0)
    result = snapshot.run(store, every(), PruneRequest(512, dialects), context)
    assert result.members["without_snapshots"] == expected
    assert [note.split()[2] for note in notes] == expected

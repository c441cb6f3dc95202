"""The append that lets records go, after conflicts with other writers."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException

from strandline.config import defaults
from strandline.tables import prunings
from strandline.tables.commits import Retry
from strandline.tables.location import Location


class Writer:
    """A frame that is its own writer: each append ends with the next condition, the last one commits.

    `is_there`: the first one commits, too, although its answer is a condition.
    """

    def __init__(self, *conditions: str, is_there: bool = False) -> None:
        self.conditions = list(conditions)
        self.appended = int(is_there)
        self.write = self

    def __getattr__(self, _step: str) -> Callable[..., "Writer"]:
        return lambda *_: self

    def save(self, _path: str) -> None:
        if self.conditions:
            raise AnalysisException(f"[{self.conditions.pop(0)}] Another commit was faster.")
        self.appended += 1


@pytest.mark.parametrize(
    ("conditions", "commits"),
    [
        ((), True),
        (("DELTA_METADATA_CHANGED",), True),
        (("DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED"), True),
        (("DELTA_CONCURRENT_TRANSACTION",), False),
        (("DELTA_METADATA_CHANGED", "DELTA_CONCURRENT_TRANSACTION"), False),
    ],
)
def test_only_another_collection_wins_the_race(tmp_path, monkeypatch, conditions, commits):
    writer = Writer(*conditions)
    assert append(writer, tmp_path, monkeypatch) is commits
    assert writer.appended == commits


def test_a_collection_whose_own_commit_was_there_has_not_lost(tmp_path, monkeypatch):
    assert append(Writer("DELTA_CONCURRENT_TRANSACTION", is_there=True), tmp_path, monkeypatch)


def append(writer, tmp_path, monkeypatch):
    """Append the rows of a collection by a writer, and return whether they are there."""
    retry = Retry(defaults().merge, sleep=lambda _: None)
    conf = SimpleNamespace(get=lambda *_: None, set=lambda *_: None, unset=lambda _: None)
    store = SimpleNamespace(
        run_id="run", location=Location.lake(str(tmp_path)), spark=SimpleNamespace(conf=conf),
        repeated=lambda statement, **place: retry.run(statement, **place),
    )  # fmt: skip
    monkeypatch.setattr(prunings, "laid_out", lambda *_: writer)
    found = SimpleNamespace(head=lambda _: writer.appended)
    monkeypatch.setattr(prunings, "appended", lambda *_: found)
    rows = SimpleNamespace(select=lambda *_: writer)
    return prunings.append_pruned(store, rows, 1)

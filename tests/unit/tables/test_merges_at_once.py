"""MERGEs into several tables at once: all end before the block does, but for a signal."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Barrier, Event, Timer

import pytest

from strandline.cli.interrupts import Interrupted
from strandline.tables import merges_at_once
from strandline.tables.merges_at_once import MERGES_AT_ONCE, MergesAtOnce
from strandline.tables.written import Written

SECONDS = 20


@dataclass
class Store:
    """Tables whose MERGEs do what `does` says; `ended` has those that ended, with the session that they ran through."""

    does: dict[str, Callable[[], None]]
    ended: dict[str, str] = field(default_factory=dict)
    spark: str = "first"

    def through(self, session: str) -> "Store":
        return Store(self.does, self.ended, session)

    def replace(self, table, rows, buckets, deletes, bounds, *, in_memory):
        self.does[table]()
        self.ended[table] = self.spark
        return Written(len(rows), inserted=len(deletes or ()))


class Copy:
    def __init__(self, original: str) -> None:
        self.spark = f"copy of {original}"

    def adopt(self, rows):
        return [(self.spark, row) for row in rows]


class Engine:
    """An engine whose sessions are their names."""

    copies = True

    def __init__(self, spark: str) -> None:
        self._spark = spark

    def copy(self) -> Copy | None:
        return Copy(self._spark) if self.copies else None


@pytest.fixture(autouse=True)
def engine(monkeypatch) -> type[Engine]:
    monkeypatch.setattr(Engine, "copies", True)
    monkeypatch.setattr(merges_at_once, "engine_of", Engine)
    monkeypatch.setattr(merges_at_once, "inheritable_thread_target", lambda session: lambda target: target)
    return Engine


def start(merges: MergesAtOnce, *tables: str) -> None:
    for table in tables:
        merges.replace(table, ["a", "b"], (0,), ["c"])


def test_they_run_at_once_each_through_a_copy_of_the_session():
    met = Barrier(MERGES_AT_ONCE)
    tables = [f"table {number}" for number in range(MERGES_AT_ONCE)]
    store = Store(dict.fromkeys(tables, lambda: met.wait(SECONDS)))
    with MergesAtOnce(store) as merges:
        start(merges, *tables)
        assert merges.started == tuple(tables)
    assert merges.written == dict.fromkeys(tables, Written(2, inserted=1))
    assert store.ended == dict.fromkeys(tables, "copy of first")


def test_without_copies_one_follows_the_other(engine, monkeypatch):
    monkeypatch.setattr(engine, "copies", False)
    store = Store(dict.fromkeys(("one", "two"), lambda: None))
    with MergesAtOnce(store) as merges:
        start(merges, "one")
        assert (list(store.ended), merges.started) == (["one"], ())
        start(merges, "two")
    assert store.ended == dict.fromkeys(("one", "two"), "first")
    assert merges.written == dict.fromkeys(("one", "two"), Written(2, inserted=1))


def end_with(
    error: BaseException, store: Store, *tables: str, first: Callable[[], None] | None = None
) -> None:
    """Start MERGEs, call `first`, and leave the block with an error."""
    with MergesAtOnce(store) as merges:
        start(merges, *tables)
        if first is not None:
            first()
        raise error


def fail() -> None:
    raise ValueError("full")


def test_an_error_is_raised_when_all_others_have_ended():
    failed = Event()

    def fail_first() -> None:
        failed.set()
        fail()

    store = Store({"one": fail_first, "two": lambda: failed.wait(SECONDS), "three": fail})
    with pytest.raises(ValueError, match="full"), MergesAtOnce(store) as merges:
        start(merges, "one", "two", "three")
    assert list(store.ended) == ["two"]


def test_after_an_error_in_the_block_nothing_more_starts():
    let_go = Event()
    running = [f"table {number}" for number in range(MERGES_AT_ONCE)]
    store = Store(dict.fromkeys([*running, "late"], lambda: let_go.wait(SECONDS)))
    with pytest.raises(KeyError):
        end_with(KeyError(), store, *running, "late", first=Timer(0.1, let_go.set).start)
    assert sorted(store.ended) == running


def test_a_signal_waits_for_none():
    let_go = Event()
    store = Store({"one": lambda: let_go.wait(SECONDS)})
    with pytest.raises(Interrupted):
        end_with(Interrupted(2), store, "one")
    assert not store.ended
    let_go.set()

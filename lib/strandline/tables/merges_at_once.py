"""Runs MERGEs into several tables of a lake at once."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Final, Self

from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame

from strandline.contracts.merge import NO_BOUNDS
from strandline.session.engine import engine_of
from strandline.tables.store import Bounds, TableStore
from strandline.tables.written import Written

MERGES_AT_ONCE: Final = 4


class MergesAtOnce:
    """MERGEs into different tables, started in the block. All have ended when the block ends: then `written` has them.

    For most of a small MERGE the driver plans and commits, while executors wait. Each runs in a copy of the session,
    since it needs settings of its own; without copies (Spark Connect) they run one after the other.
    Leaving the block raises the first error of a MERGE, in the order in which they were started.
    """

    def __init__(self, store: TableStore) -> None:
        self.written: dict[str, Written] = {}
        self._store = store
        self._pool = ThreadPoolExecutor(MERGES_AT_ONCE, "merge")
        self._started: dict[str, Future[Written]] = {}

    @property
    def started(self) -> tuple[str, ...]:
        """The tables whose MERGEs were given to a thread, in this order."""
        return tuple(self._started)

    def replace(
        self, table: str, rows: DataFrame, buckets: tuple[int, ...], deletes: DataFrame | None = None,
        bounds: Bounds = NO_BOUNDS, *, in_memory: bool = False,
    ) -> None:  # fmt: skip
        """Start what `TableStore.replace` does."""
        session = engine_of(self._store.spark).copy()
        if session is None:
            self.written[table] = self._store.replace(
                table, rows, buckets, deletes, bounds, in_memory=in_memory
            )
            return
        merge = partial(
            self._store.through(session.spark).replace, table, session.adopt(rows), buckets,
            None if deletes is None else session.adopt(deletes), bounds, in_memory=in_memory,
        )  # fmt: skip
        # With it a host that cancels the jobs of this thread cancels those of the MERGE, too.
        inheriting = inheritable_thread_target(session.spark)
        self._started[table] = self._pool.submit(inheriting(merge))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A signal ends the command at once: nobody waits for what has started.
        is_signal = error is not None and not isinstance(error, Exception)
        self._pool.shutdown(wait=not is_signal, cancel_futures=error is not None)
        if error is None:
            self.written |= {table: started.result() for table, started in self._started.items()}

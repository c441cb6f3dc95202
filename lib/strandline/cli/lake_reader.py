"""Opens a lake for commands that only read: through delta-rs if possible, else through Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from strandline.cli.invocation import Invocation
from strandline.tables.delta_rs import opens_without_spark
from strandline.tables.read_lake import SparkLake

if TYPE_CHECKING:
    from strandline.tables.read_lake import ReadLake


@contextmanager
def open_for_reading(call: Invocation) -> "Iterator[ReadLake]":
    """Give the tables to read: through delta-rs if it can open them, else through Spark."""
    if opens_without_spark(call.location):
        lake = call.delta_rs()
        if not lake.needs_spark:
            yield lake
            return
    with call.progress():
        from strandline.tables.lake import check_there

        store = call.store(makes=False, writes=False)
        if not store.location.is_local():
            check_there(store)
        yield SparkLake(store)

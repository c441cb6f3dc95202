"""A snapshot of a lake: each table at one version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import DataFrame

from strandline.core.errors import UsageError
from strandline.tables.lost_versions import is_removed
from strandline.tables.reads import TableReads
from strandline.tables.spark_errors import spark_errors


class TablesAsOf:
    """The tables of a lake at given versions (`dialect_api.ports.LakeSnapshot`)."""

    def __init__(self, reads: TableReads, versions: Mapping[str, int]) -> None:
        self._reads = reads
        self._versions = versions

    @property
    def buckets(self) -> int:
        """The number of buckets of the lake."""
        return self._reads.buckets

    def read(self, table: str) -> DataFrame:
        """Return the table at its version."""
        return self._reads.read_version(table, self._versions[table])

    def stored_bytes(self, table: str) -> int:
        """Return the bytes of the live data files of the table, of its newest version."""
        return self._reads.stored_bytes(table)


@contextmanager
def versions_read(versions: Mapping[str, int], run_id: str) -> Iterator[None]:
    """Turn Spark's errors about a version that VACUUM or the log cleanup removed into a UsageError.

    The error appears only when rows are read: Delta answers the row count of a vacuumed version from the log.

    Raises:
        UsageError: VERSION_VACUUMED.
    """
    try:
        yield
    except spark_errors() as error:
        if not is_removed(error):
            raise
        removed = ", ".join(f"{table} {version}" for table, version in versions.items())
        raise UsageError(
            "VERSION_VACUUMED",
            f"the versions that the run {run_id} read are older than the tables keep, or were removed by VACUUM or"
            f" the log cleanup ({removed})",
            "name a later run, or leave out --as-of for the current records",
        ) from None

"""A lake as it stood: each table at one version, whatever is written meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from strandline.core.errors import UsageError
from strandline.tables.reads import FORGOTTEN, TableReads

_GONE: Final = re.compile(
    rf"{FORGOTTEN.pattern}|FILE_NOT_EXIST|FileNotFoundException|NoSuchFileException|No such file or directory"
)
"""What is said of a version whose commit, or one of whose data files, is no longer there."""


class TablesAsOf:
    """The tables of a lake at the versions given, as dialects see them."""

    def __init__(self, reads: TableReads, versions: Mapping[str, int]) -> None:
        self._reads = reads
        self._versions = versions

    @property
    def buckets(self) -> int:
        """N of the lake."""
        return self._reads.buckets

    def read(self, table: str) -> DataFrame:
        """Return the table at its version."""
        return self._reads.read_version(table, self._versions[table])


@contextmanager
def versions_read(versions: Mapping[str, int], run_id: str) -> Iterator[None]:
    """Turn what Spark says of a version that VACUUM or the log's own cleaning has removed into an error that says so.

    It is found by reading rows: the number of rows of a vacuumed version still answers from the log.

    Raises:
        UsageError: VERSION_VACUUMED.
    """
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        if _GONE.search(str(error)) is None:
            raise
        told = ", ".join(f"{table} {version}" for table, version in versions.items())
        raise UsageError(
            "VERSION_VACUUMED",
            f"what the run {run_id} read is no longer there: VACUUM or the log's own cleaning removed it ({told})",
            "name a later run, or leave out --as-of for the records of today",
        ) from None

"""The prefix of an object store as a source that `stream` can follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from pyspark.sql import SparkSession

from strandline.core.errors import FaultError
from strandline.kernels.objects import root_exists, store_of
from strandline.session.stores import NO_JAR, is_on_databricks, store_jar_missing
from strandline.tables.paths import path_text
from strandline.tables.stream import MicroBatch
from strandline.tables.stream_objects import follow_prefix

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_REFUSAL: Final = re.compile(
    r"\b(?:AccessDenied|NoAuthWithAWS|AWS\w+|S3|SdkClient|UnknownStore|UnknownHost|ConnectTimeout|Connect|Abfs\w+|"
    r"AzureBlobFileSystem|KeyProvider|TokenAccessProvider|GoogleJsonResponse|StatusRuntime|AccessControl|Standby|"
    r"SocketTimeout)Exception\b"
)
"""Classes of the errors of a store that Hadoop cannot list."""


class ObjectSource:
    """A prefix of a store below which objects appear."""

    def __init__(self, spark: SparkSession, prefix: bytes, *, every: float | None, most: int) -> None:
        self.folder = self.key = prefix
        self._spark = spark
        self._every = every
        self._most = most

    def check(self, checkpoint: str) -> None:
        """Do nothing: `stream_objects.landing_prefix` has checked it."""

    def owner(self) -> Mapping[str, str]:
        """Return what a checkpoint stores about it."""
        return {"source": path_text(self.key)}

    def notes(self) -> tuple[str, ...]:
        """Return notes to print about it."""
        return ()

    def start(self, checkpoint: str, process: Callable[[MicroBatch], None]) -> StreamingQuery:
        """Start to follow it."""
        return follow_prefix(
            self._spark, self.key, checkpoint, most_files=self._most, every=self._every, process=process,
            on_databricks=is_on_databricks(self._spark.conf.get),
        )  # fmt: skip

    def exists(self) -> bool:
        """Return whether the bucket, or the folder of HDFS, exists; True if the store does not answer: it may be back.

        A prefix without objects is one below which none has appeared yet.
        """
        return root_exists(self.key)

    def gone_error(self) -> FaultError:
        """Return the error for a source that no longer exists."""
        store = store_of(self.key)
        return FaultError(
            "SOURCE_GONE",
            f"The {'folder' if store.has_folders else f'{store.place} of'} {path_text(self.key)} no longer exists",
            "what was ingested stays; restore it and start the stream again: it continues where it stopped",
        )

    def error_of(self, text: str) -> FaultError | None:
        """Return the error for Spark's message about a store that Hadoop cannot list, None for another message."""
        if NO_JAR.search(text):
            return store_jar_missing(path_text(self.key).partition(":")[0])
        found = _REFUSAL.search(text)
        if found is None:
            return None
        return FaultError(
            "SOURCE_UNREADABLE",
            f"Spark cannot list {path_text(self.key)}: {found[0]}",
            f"give Hadoop the credentials and the endpoint of the store, too ({store_of(self.key).hadoop}), "
            "and start the stream again",
        )

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

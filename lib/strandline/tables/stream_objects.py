"""Follows a prefix of an object store with Structured Streaming; tasks open the objects as `ingest` does.

Spark lists the prefix by Hadoop's file system. Its paths become those of `kernels.objects`: equal to those of `ingest`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, SparkSession

from strandline.core.errors import UsageError
from strandline.tables.object_sources import check_prefix, object_path
from strandline.tables.paths import path_text
from strandline.tables.stream import PATTERN, MicroBatch, listed, listing, start

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_S3: Final = re.compile(r"s3://")


def landing_prefix(source: str) -> bytes | None:
    """Return the path of the prefix to follow, None for a source that is no URI of an object store.

    Raises: UsageError SOURCE_URI, SOURCE_NOT_A_FOLDER, SOURCE_MISSING (no such bucket, no such folder of HDFS),
    SOURCE_DENIED, SOURCE_IS_PATTERN (characters that Hadoop reads as a glob); FaultError SOURCE_UNREADABLE,
    STORE_PACKAGE_MISSING.
    """
    prefix = object_path(source)
    if prefix is None:
        return None
    if PATTERN.search(path_text(prefix)):
        raise UsageError(
            "SOURCE_IS_PATTERN",
            f"Spark reads the prefix {path_text(prefix)} as a glob",
            "name a prefix without * ? [ ] { } and backslashes",
        )
    check_prefix(prefix)
    return prefix


def hadoop_uri(prefix: bytes, *, on_databricks: bool) -> str:
    """Return the URI under which Hadoop's file systems know a prefix: for S3 `s3a://`, on Databricks `s3://`."""
    uri = path_text(prefix)
    return uri if on_databricks else _S3.sub("s3a://", uri, count=1)


def listed_path(uri: str) -> str:
    """Return the path that Spark lists for a prefix: a glob that matches the prefix alone.

    Spark refuses to follow a path at which nothing is, unless it is a glob. A prefix is there only while objects are
    below it, and objects may be removed when they were read. Hadoop lists nothing for this glob but the prefix, since
    it expands braces with a slash first. It cannot read a glob with a colon.
    """
    key = "".join(uri.split("/", 3)[3:])
    return f"{uri[:-1]}{{{key[-1]}/}}" if key and ":" not in key and not key.endswith(",") else uri


def path_below(prefix: bytes, listed: str) -> bytes:
    """Return the path of an object that Hadoop listed below a prefix. Keys are literal in both."""
    root = b"/".join(prefix.split(b"/", 3)[:3])
    return root + b"/" + listed.split("/", 3)[3].encode("utf-8")


def follow_prefix(
    spark: SparkSession,
    prefix: bytes,
    checkpoint: str,
    *,
    most_files: int,
    every: float | None,
    process: Callable[[MicroBatch], None],
    on_databricks: bool,
) -> StreamingQuery:
    """Start to follow a prefix, like `stream.follow_folder` a folder."""
    uri = hadoop_uri(prefix, on_databricks=on_databricks)

    def batch(frame: DataFrame, number: int) -> None:
        objects, oldest = listed(frame, prefix, lambda path: path_below(prefix, path))
        process(MicroBatch(number, oldest, objects=objects))

    # An object that is removed before its batch has a list would end the stream.
    objects = listing(spark, most_files).option("ignoreMissingFiles", "true").load(listed_path(uri))
    return start(objects, batch, checkpoint, every)

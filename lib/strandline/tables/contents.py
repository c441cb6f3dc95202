"""Input whose files are rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from strandline.frames.blocks import read_pieces
from strandline.kernels.judging import Judging
from strandline.kernels.packing import FILE_SCHEMA, packed
from strandline.kernels.reading import ReadContent, ReadOptions


class ContentScan:
    """The input of one run (`dialect_api.ports.InputScan`) with contents instead of paths.

    `files` has file_no, source (the name in findings), format and content (BINARY); it must not change.
    """

    def __init__(self, files: DataFrame, options: ReadOptions) -> None:
        self._files = files
        self._options = options

    @property
    def options(self) -> ReadOptions:
        """The lake's options and the limits."""
        return self._options

    @property
    def is_small(self) -> bool:
        """False: the size of the contents is not known."""
        return False

    def pieces(
        self, read_content: ReadContent, extra: tuple[pa.Field, ...], judging: Judging | None = None
    ) -> DataFrame | None:
        """Return the pieces of all files."""
        listed = self._files.select(
            "file_no",
            "format",
            F.lit(b"").alias("path"),
            "content",
            F.lit(0).cast("bigint").alias("part"),
            F.lit(None).cast("bigint").alias("until"),
            F.lit(None).cast("string").alias("label"),
        )
        return read_pieces(listed, read_content, extra, judging, self._options)

    def sources(self) -> DataFrame:
        """Return file_no and source."""
        return self._files.select("file_no", "source")

    def source_of(self) -> None:
        """Return None: the rows of these files are in Spark."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Records that the driver holds, encoded: no task can open a path of the driver.

    `source` is their name in findings; some of them, one after another, are a file of `format`.
    """

    source: str
    format: str
    records: Sequence[bytes]

    @property
    def size(self) -> int:
        """The bytes of all records."""
        return sum(map(len, self.records))

    def files(self) -> pa.Table:
        """Return file_no and content.  Rows: one per about a MiB of records; an empty one if there are none."""
        files = pa.Table.from_batches(packed(self.records or [b""]), FILE_SCHEMA)
        return files.select(["content"]).add_column(0, "file_no", pa.array(range(len(files)), pa.int64()))

    def scan(self, spark: SparkSession, options: ReadOptions) -> ContentScan:
        """Return these files as the input of a run."""
        named = {"source": F.lit(self.source), "format": F.lit(self.format)}
        return ContentScan(spark.createDataFrame(self.files()).withColumns(named), options)

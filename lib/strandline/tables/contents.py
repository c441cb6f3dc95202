"""Input whose files are rows of a DataFrame."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.frames.lift import map_batches
from strandline.kernels.pieces import piece_schema
from strandline.kernels.reading import ReadContent, ReadOptions, read_files


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

    def pieces(self, read_content: ReadContent, extra: tuple[pa.Field, ...]) -> DataFrame | None:
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
        return map_batches(
            listed,
            read_files,
            piece_schema(extra),
            options=self._options,
            read_content=read_content,
            extra=extra,
        )

    def sources(self) -> DataFrame:
        """Return file_no and source."""
        return self._files.select("file_no", "source")

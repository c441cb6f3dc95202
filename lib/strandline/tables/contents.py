"""Input whose files are rows of a DataFrame."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.frames.blocks import read_pieces
from strandline.kernels.judging import Judging
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

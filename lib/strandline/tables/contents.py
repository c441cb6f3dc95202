"""Files whose bytes are rows of a frame, as the input of a run."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.frames.lift import map_batches
from strandline.kernels.reading import ReadContent, ReadOptions, read_files
from strandline.tables.reading import piece_schema


class ContentScan:
    """The input of one run (`dialect_api.base.Reading`) where its bytes are at hand: nothing of it is a file.

    `files` has file_no, source (what findings call it), format and content (BINARY), and stays as it is.
    """

    def __init__(self, files: DataFrame, options: ReadOptions) -> None:
        self._files = files
        self._options = options

    @property
    def options(self) -> ReadOptions:
        """The lake's choices and limits."""
        return self._options

    @property
    def has_text(self) -> bool:
        """False: Spark's splitting reader takes paths alone."""
        return False

    def lines(self) -> DataFrame:
        """Raise ValueError: there are no files of large plain text."""
        raise ValueError("contents are read as pieces")

    def pieces(self, read_content: ReadContent, extra: tuple[pa.Field, ...]) -> DataFrame | None:
        """Return the pieces of all files."""
        listed = self._files.select(
            "file_no",
            "format",
            F.lit(b"").alias("path"),
            "content",
            F.lit(0).cast("bigint").alias("part"),
            F.lit(None).cast("bigint").alias("until"),
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

    def without_truncated(self, read_bytes: DataFrame) -> ContentScan | None:  # noqa: ARG002 - asked of every reading
        """Return None: no line is lost here."""
        return None

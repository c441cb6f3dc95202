"""Selected files as frames of lines and pieces: Spark's splitting reader for large plain text, tasks for the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from strandline.core.safe_files import open_file
from strandline.dialect_api.ports import PlainFile, SplitFormat
from strandline.frames.lift import map_batches
from strandline.kernels.containers import SNIFF_BYTES, container_of
from strandline.kernels.pieces import PIECE_FIELDS
from strandline.kernels.reading import ReadContent, ReadOptions, mark_bytes, read_files
from strandline.tables.sources import InputFile, tasks_for

HEAD_BYTES: Final = 4096
TAIL_BYTES: Final = 16 * 1024 * 1024 + 1
SPARK_TEXT: Final = "text"
"""The form whose lines Spark's own reader splits; other plain forms of lines are split by the tasks themselves."""

_SAFE_PATH: Final = re.compile(rb"(/[A-Za-z0-9.@+-][A-Za-z0-9._@+-]*)+")
_CODEC_NAMES: Final = (b".gz", b".zst", b".bz2", b".lz4", b".snappy", b".deflate")
_MAX_LINE: Final = "mapreduce.input.linerecordreader.line.maxlength"

Plain = Callable[[PlainFile], SplitFormat | None]


@dataclass(frozen=True, slots=True)
class Route:
    """How one file is read: `split` is None for a whole file in one task."""

    file: InputFile
    split: SplitFormat | None
    mark: int


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Files of at least `lines_min_bytes` are split, in splits of `split_bytes`."""

    lines_min_bytes: int
    split_bytes: int


class FileScan:
    """The input of one run (`dialect_api.base.Reading`)."""

    def __init__(
        self,
        spark: SparkSession,
        files: Iterable[InputFile],
        options: ReadOptions,
        plan: ReadPlan,
        plain: Plain,
    ) -> None:
        self._spark = spark
        self._options = options
        self._plan = plan
        self._routes = tuple(_route(file, plan, plain, options) for file in files)

    @property
    def options(self) -> ReadOptions:
        """The lake's choices and limits."""
        return self._options

    @property
    def has_text(self) -> bool:
        """True if Spark's splitting reader takes some file."""
        return any(_is_text(route) for route in self._routes)

    def lines(self) -> DataFrame:
        """Return the lines of the files that Spark's reader takes, in the order of each part.

        Gives: file_no, part (where the split starts, bytes), label, mark, size (bytes with LF), raw (BINARY).
        A line over its form's limit is left out by Hadoop without a word: `incomplete` finds the files.
        """
        routes = [route for route in self._routes if _is_text(route)]
        limit = max(route.split.line_bytes for route in routes if route.split is not None)
        paths = [route.file.path.decode("ascii") for route in routes]
        read = self._spark.read.option(_MAX_LINE, limit + 1).text(paths, lineSep="\n")
        # Spark spells a local path in either way, as the file system that it asked does.
        named = [
            (scheme + path, route.file.file_no, _label(route), route.mark)
            for path, route in zip(paths, routes, strict=True)
            for scheme in ("file:", "file://")
        ]
        names = self._spark.createDataFrame(named, "path STRING, file_no BIGINT, label STRING, mark BIGINT")
        raw = F.col("value").cast("binary")
        lines = read.select(
            F.col("_metadata.file_path").alias("path"),
            F.col("_metadata.file_block_start").alias("part"),
            (F.length(raw) + 1).cast("bigint").alias("size"),
            raw.alias("raw"),
        )
        return lines.join(F.broadcast(names), "path").select(
            "file_no", "part", "label", "mark", "size", "raw"
        )

    def pieces(self, read_content: ReadContent, extra: tuple[pa.Field, ...]) -> DataFrame | None:
        """Return the pieces of all other files, or None if there are none; each task opens its paths."""
        rows = list(self._task_rows())
        if not rows:
            return None
        # Where Spark reads lines, too, all are counted behind both.
        options = replace(self._options, tally=None) if self.has_text else self._options
        tasks = tasks_for([size for size, _ in rows])
        listed = self._spark.createDataFrame(pa.Table.from_pylist([row for _, row in rows], schema=_LISTED))
        return map_batches(
            listed.repartition(tasks),
            read_files,
            piece_schema(extra),
            options=options,
            read_content=read_content,
            extra=extra,
        )

    def _task_rows(self) -> Iterator[tuple[int, dict[str, object]]]:
        for route in self._routes:
            if _is_text(route):
                continue
            file = route.file
            row: dict[str, object] = {
                "file_no": file.file_no, "format": file.format, "path": file.guarded, "content": None, "part": 0,
                "until": None,
            }  # fmt: skip
            if route.split is None or file.size <= self._plan.split_bytes:
                yield file.size, row
                continue
            for start in range(0, file.size, self._plan.split_bytes):
                end = min(start + self._plan.split_bytes, file.size)
                yield end - start, {**row, "part": start, "until": end}

    def sources(self) -> DataFrame:
        """Return file_no and source (the path as text) of every file."""
        named = [(route.file.file_no, route.file.source) for route in self._routes]
        return self._spark.createDataFrame(named, "file_no BIGINT, source STRING")

    def without_truncated(self, read_bytes: DataFrame) -> FileScan | None:
        """Return a reading that takes the files that Spark's reader did not read whole in another way, or None.

        Reads: file_no, bytes (what the lines of each text file take, with LFs).
        """
        expected = {
            route.file.file_no: route.file.size - route.mark for route in self._routes if _is_text(route)
        }
        if not expected:
            return None
        sizes = self._spark.createDataFrame(list(expected.items()), "file_no BIGINT, size BIGINT")
        missing = F.col("size") - F.coalesce("bytes", F.lit(0))
        bad = (
            sizes.join(read_bytes, "file_no", "left").where(~missing.isin(0, -1)).select("file_no").collect()
        )
        if not bad:
            return None
        lost = {row["file_no"] for row in bad}
        again = FileScan(self._spark, (), self._options, self._plan, _whole)
        again._routes = tuple(
            replace(route, split=None) if route.file.file_no in lost else route for route in self._routes
        )
        return again


_LISTED: Final = pa.schema(
    [
        pa.field("file_no", pa.int64(), nullable=False),
        pa.field("format", pa.string()),
        pa.field("path", pa.binary(), nullable=False),
        pa.field("content", pa.binary()),
        pa.field("part", pa.int64(), nullable=False),
        pa.field("until", pa.int64()),
    ]
)


def _whole(_file: PlainFile) -> None:
    """Every file is read whole, by one task."""


def _is_text(route: Route) -> bool:
    return route.split is not None and route.split.form == SPARK_TEXT


def _label(route: Route) -> str | None:
    return None if route.split is None else route.split.label


def _route(file: InputFile, plan: ReadPlan, plain: Plain, options: ReadOptions) -> Route:
    if file.size < plan.lines_min_bytes:
        return Route(file, None, 0)
    try:
        opened = open_file(file.guarded)
    except OSError:
        return Route(file, None, 0)  # the task that opens it says so
    with opened as stream:
        head = stream.read(HEAD_BYTES)
        if container_of(head[:SNIFF_BYTES])[0] != "plain":
            return Route(file, None, 0)

        def tail() -> bytes:
            stream.seek(max(0, file.size - TAIL_BYTES))
            return stream.read(TAIL_BYTES)

        mark = mark_bytes(head)
        form = plain(PlainFile(file.format, head[mark:], tail, options))
    if form is not None and form.form == SPARK_TEXT and not _is_safe(file.path):
        form = None
    return Route(file, form, mark)


def _is_safe(path: bytes) -> bool:
    """True for a path that Hadoop neither globs, nor hides, nor cuts, nor hands to a codec."""
    return _SAFE_PATH.fullmatch(path) is not None and not path.lower().endswith(_CODEC_NAMES)


def piece_schema(extra: tuple[pa.Field, ...]) -> pa.Schema:
    return pa.schema((*PIECE_FIELDS, *extra))

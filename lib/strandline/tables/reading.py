"""Selected files as frames of lines and pieces: Spark's splitting reader for large plain text, tasks for the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from strandline.dialect_api.ports import PlainFile, SplitFormat
from strandline.frames.lift import map_batches
from strandline.kernels.containers import SNIFF_BYTES, container_of
from strandline.kernels.inputs import open_input
from strandline.kernels.pieces import PIECE_FIELDS
from strandline.kernels.reading import ReadContent, ReadOptions, mark_bytes, read_files
from strandline.tables.sources import InputFile, tasks_for

SMALL_BYTES: Final = 1024 * 1024
HEAD_BYTES: Final = 4096
TAIL_BYTES: Final = 16 * 1024 * 1024 + 1
SPARK_TEXT: Final = "text"
"""The form of lines that Spark's reader splits; tasks split other forms."""

_SAFE_PATH: Final = re.compile(rb"(/[A-Za-z0-9.@+-][A-Za-z0-9._@+-]*)+")
_CODEC_NAMES: Final = (b".gz", b".zst", b".bz2", b".lz4", b".snappy", b".deflate")
_MAX_LINE: Final = "mapreduce.input.linerecordreader.line.maxlength"

Plain = Callable[[PlainFile], SplitFormat | None]


@dataclass(frozen=True, slots=True)
class Route:
    """How one file is read: `split` is None if one task reads it whole; `mark` is the size of its BOM in bytes."""

    file: InputFile
    split: SplitFormat | None
    mark: int


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Files of at least `lines_min_bytes` are split, in splits of `split_bytes`."""

    lines_min_bytes: int
    split_bytes: int


class FileScan:
    """The input of one run (`dialect_api.ports.InputScan`)."""

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
        """The lake's options and the limits."""
        return self._options

    @property
    def has_text(self) -> bool:
        """True if Spark's splitting reader reads one of the files."""
        return any(_is_text(route) for route in self._routes)

    @property
    def is_small(self) -> bool:
        """True if the files have at most `SMALL_BYTES` together."""
        return sum(route.file.size for route in self._routes) <= SMALL_BYTES

    def lines(self) -> DataFrame:
        """Return the lines of the files for Spark's reader, in the order of each part.

        Gives: file_no, part (offset of the split, bytes), label, mark, size (bytes with LF), raw (BINARY).
        Hadoop silently leaves out a line over the limit: `without_truncated` finds such files.
        """
        routes = [route for route in self._routes if _is_text(route)]
        limit = max(route.split.line_bytes for route in routes if route.split is not None)
        paths = [route.file.path.decode("ascii") for route in routes]
        read = self._spark.read.option(_MAX_LINE, limit + 1).text(paths, lineSep="\n")
        # Spark writes the scheme of a local path in either form, depending on the file system.
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
        """Return the pieces of all other files, or None without such files; tasks open the paths."""
        rows = list(self._task_rows())
        if not rows:
            return None
        # If Spark reads lines, too, records are counted after the union of both.
        options = replace(self._options, tally=None) if self.has_text else self._options
        tasks = tasks_for([size for size, _ in rows])
        listed = self._spark.createDataFrame(pa.Table.from_pylist([row for _, row in rows], schema=_LISTED))
        return map_batches(
            # Rows of the driver are in as many parts as there are cores: one part needs no shuffle.
            listed.coalesce(1) if tasks == 1 else listed.repartition(tasks),
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
        """Return file_no and source (the path as text) of every file.

        Spark knows the size of an Arrow table, and chooses the join by it.
        """
        named = {
            "file_no": pa.array([route.file.file_no for route in self._routes], pa.int64()),
            "source": pa.array([route.file.source for route in self._routes], pa.string()),
        }
        return self._spark.createDataFrame(pa.table(named))

    def without_truncated(self, read_bytes: DataFrame) -> FileScan | None:
        """Return a scan that reads truncated files in another way, or None if Spark's reader read all files whole.

        Reads: file_no, bytes (size of all lines of a text file, with LFs).
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
        truncated = {row["file_no"] for row in bad}
        scan = FileScan(self._spark, (), self._options, self._plan, _whole)
        scan._routes = tuple(
            replace(route, split=None) if route.file.file_no in truncated else route for route in self._routes
        )
        return scan


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
    """Return None: one task reads the whole file."""


def _is_text(route: Route) -> bool:
    return route.split is not None and route.split.form == SPARK_TEXT


def _label(route: Route) -> str | None:
    return None if route.split is None else route.split.label


def _route(file: InputFile, plan: ReadPlan, plain: Plain, options: ReadOptions) -> Route:
    if file.size < plan.lines_min_bytes:
        return Route(file, None, 0)
    try:
        opened = open_input(file.guarded)
    except OSError:
        return Route(file, None, 0)  # the task that opens it reports the error
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
    """Return whether Hadoop reads a path literally: no glob, no hidden name, no list of paths, no codec."""
    return _SAFE_PATH.fullmatch(path) is not None and not path.lower().endswith(_CODEC_NAMES)


def piece_schema(extra: tuple[pa.Field, ...]) -> pa.Schema:
    return pa.schema((*PIECE_FIELDS, *extra))

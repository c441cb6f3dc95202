"""Selected files as pieces: a large plain file of lines in splits, any other whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from strandline.dialect_api.ports import PlainFile, SplitFormat
from strandline.frames.blocks import read_pieces
from strandline.kernels.containers import SNIFF_BYTES, container_of
from strandline.kernels.inputs import open_input
from strandline.kernels.judging import Judging
from strandline.kernels.opened import mark_bytes
from strandline.kernels.reading import LISTED, ReadContent, ReadOptions
from strandline.tables.sources import TASK_BYTES, InputFile, tasks_for

SMALL_BYTES: Final = 1024 * 1024
HEAD_BYTES: Final = 4096
TAIL_BYTES: Final = 16 * 1024 * 1024 + 1
JUDGED_BYTES: Final = 4 * 1024 * 1024
"""Bytes of a split, and of a task, that judges what it reads: some thousand signatures."""

Plain = Callable[[PlainFile], SplitFormat | None]


@dataclass(frozen=True, slots=True)
class Route:
    """How one file is read: `split` is None if one task reads it whole."""

    file: InputFile
    split: SplitFormat | None

    def split_by(self, split_bytes: int) -> SplitFormat | None:
        """Return how the file is read in splits of `split_bytes`, or None if one task reads it whole."""
        return None if self.file.size <= split_bytes else self.split


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Files of at least `lines_min_bytes` are split, in splits of `split_bytes`.

    A file over the limit of a stream is not: one task reads it to the limit, as it would without splits.
    """

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
    def is_small(self) -> bool:
        """True if the files have at most `SMALL_BYTES` together, and none is read in splits."""
        return sum(route.file.size for route in self._routes) <= SMALL_BYTES and all(
            route.split_by(self._plan.split_bytes) is None for route in self._routes
        )

    def pieces(
        self, read_content: ReadContent, extra: tuple[pa.Field, ...], judging: Judging | None = None
    ) -> DataFrame | None:
        """Return the pieces of all files, or None without files; tasks open the paths.

        To judge a block takes longer than to read it, so tasks that do both are smaller.
        """
        most = self._plan.split_bytes if judging is None else min(self._plan.split_bytes, JUDGED_BYTES)
        rows = list(self._task_rows(most))
        if not rows:
            return None
        tasks = tasks_for([size for size, _ in rows], TASK_BYTES if judging is None else JUDGED_BYTES)
        listed = self._spark.createDataFrame(pa.Table.from_pylist([row for _, row in rows], schema=LISTED))
        # Rows of the driver are in as many parts as there are cores: one part needs no shuffle.
        listed = listed.coalesce(1) if tasks == 1 else listed.repartition(tasks)
        return read_pieces(listed, read_content, extra, judging, self._options)

    def _task_rows(self, split_bytes: int) -> Iterator[tuple[int, dict[str, object]]]:
        for route in self._routes:
            file = route.file
            row: dict[str, object] = {
                "file_no": file.file_no, "format": file.format, "path": file.guarded, "content": None, "part": 0,
                "until": None, "label": None,
            }  # fmt: skip
            split = route.split_by(split_bytes)
            if split is None:
                yield file.size, row
                continue
            for start in range(0, file.size, split_bytes):
                end = min(start + split_bytes, file.size)
                yield end - start, {**row, "part": start, "until": end, "label": split.label}

    def sources(self) -> DataFrame:
        """Return file_no and source (the path as text) of every file.

        Spark knows the size of an Arrow table, and chooses the join by it.
        """
        named = {
            "file_no": pa.array([route.file.file_no for route in self._routes], pa.int64()),
            "source": pa.array([route.file.source for route in self._routes], pa.string()),
        }
        return self._spark.createDataFrame(pa.table(named))

    def source_of(self) -> Mapping[int, str]:
        """Return the source of each file by file_no."""
        return {route.file.file_no: route.file.source for route in self._routes}


def _route(file: InputFile, plan: ReadPlan, plain: Plain, options: ReadOptions) -> Route:
    # The splits of a sparse file would fill the memory of the driver, and the tasks would read for ever.
    if not plan.lines_min_bytes <= file.size <= options.stream.decompressed_bytes:
        return Route(file, None)
    try:
        opened = open_input(file.guarded)
    except OSError:
        return Route(file, None)  # the task that opens it reports the error
    with opened as stream:
        head = stream.read(HEAD_BYTES)
        if container_of(head[:SNIFF_BYTES])[0] != "plain":
            return Route(file, None)

        def tail() -> bytes:
            stream.seek(max(0, file.size - TAIL_BYTES))
            return stream.read(TAIL_BYTES)

        form = plain(PlainFile(file.format, head[mark_bytes(head) :], tail, options))
    return Route(file, form)

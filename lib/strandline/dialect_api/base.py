"""What the pipelines see of a dialect: one object, the same for all of them, and what they hand to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, Row

from strandline.dialect_api.exporting import ExportFile, LakeSnapshot
from strandline.kernels.reading import ReadContent, ReadOptions


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A large file that is not compressed: its format if it has one, how it begins behind a mark, how it ends."""

    format: str | None
    head: bytes
    tail: Callable[[], bytes]
    options: ReadOptions


@dataclass(frozen=True, slots=True)
class SplitFormat:
    """A plain file that Spark's splitting reader may take.

    `form` names the reader of its lines, `label` is what the file's head says of all of them (or None), `line_bytes`
    the most that one line may hold.
    """

    form: str
    label: str | None
    line_bytes: int


@dataclass(frozen=True, slots=True)
class LakeOption:
    """A choice that decides verdicts, fixed when a lake is made: kept as a property of one table.

    `name` is the option of `init`, `table` and `property` say where it is kept, `values` what it may be, the first
    being the default.
    """

    name: str
    table: str
    property: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReducerOption:
    """What an operator may tell a dialect's reducer, in a file: a parameter of states, never of verdicts.

    `name` is the option of every command that reduces. `parse` gives what a file says (its bytes, and how errors call
    it), or raises UsageError; `nothing` is what holds without a file.
    """

    name: str
    parse: Callable[[bytes, str], Any]
    nothing: Any


class InputScan(Protocol):
    """The input of one run, as the dialect reads it."""

    @property
    def options(self) -> ReadOptions:
        """The lake's choices and limits."""

    @property
    def has_text(self) -> bool:
        """True if Spark's splitting reader takes some file."""

    def lines(self) -> DataFrame:
        """Lines of large plain text: file_no, part, label, mark, size, raw, in the order of each part."""

    def pieces(self, read_content: ReadContent, extra: tuple[pa.Field, ...]) -> DataFrame | None:
        """Pieces of all other files (`kernels.pieces`), or None if there are none."""

    def sources(self) -> DataFrame:
        """file_no, source (the path as text)."""

    def without_truncated(self, read_bytes: DataFrame) -> InputScan | None:
        """A reading that mends what Spark's reader lost, or None. Reads: file_no, bytes that its lines took."""


class Tables(LakeSnapshot, Protocol):
    """The lake as a dialect sees it, each table as it is when its frame is made."""

    def read_version(self, table: str, version: int) -> DataFrame:
        """All rows of a table as of a version, lazy."""

    def has_partial_run(self, tables: tuple[str, ...]) -> bool:
        """True if the run that last wrote one of the tables has no row in `run`: it was killed, or is under way."""


class Jobs(Protocol):
    """The actions that a dialect may ask of its pipeline, so that its frames stay lazy."""

    def persist(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows, computed once and kept until the run ends; `name` is shown as progress."""

    def checkpoint(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows as `persist` does, and cut the plan they came from: for small frames that follow
        another.
        """

    def row(self, frame: DataFrame) -> Row:
        """Return the single row of an aggregate."""

    def has_rows(self, frame: DataFrame) -> bool:
        """Return whether the frame has a row."""

    def unpersist(self, frame: DataFrame) -> None:
        """Release what `persist` or `checkpoint` computed."""


@dataclass(frozen=True, slots=True)
class TableInsert:
    """Accepted rows for one table, one per key: those that are absent are added.

    `buckets` and `bounds` are the literals of the MERGE; `presorted` says that the tasks hold the rows in the order of
    the table, few buckets and much of each. `derived_keys` are keys of rows that no record of the input is, or None:
    they are not counted as new, but under the name `derived_as` if that is given.
    """

    table: str
    rows: DataFrame
    buckets: tuple[int, ...]
    bounds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    presorted: bool = False
    derived_keys: DataFrame | None = None
    derived_as: str | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """The verdicts of one batch, ready to be written.

    `inserts` are written in their order, so that a kill between two leaves nothing that the next run would not mend.
    `counts` has read, accepted (of those read), rejected, deferred and the dialect's own. `findings` are
    FINDING_COLUMNS of `frames.quarantine`. `resolved` are the rows of `quarantine` that wait no longer (quarantine_id,
    bucket, namespace, record_id), or None; those whose record the union adds to the record table are counted as
    readmitted. `faults` counts records that met a fault of ours. `damaged` tells, per damaged file, where it first
    breaks. `per_file` has file_no, records (what each file adds to `read`; without a row: none) and `claims` every
    record with an id, good or not: file_no, namespace, record_id, name (as others call it), follows (ARRAY<STRING>, the
    names of those it follows). Both are lazy.
    """

    inserts: tuple[TableInsert, ...]
    counts: Mapping[str, int]
    findings: DataFrame | None
    namespaces: int
    resolved: DataFrame | None = None
    faults: int = 0
    damaged: DataFrame | None = None
    per_file: DataFrame | None = None
    claims: DataFrame | None = None


@dataclass(frozen=True, slots=True)
class ReduceScope:
    """What one reduction covers: the record table up to `version`; `previous_version` was reduced before, or None.

    `side_versions` are the versions of the dialect's side tables read by this run. `reducer_options` is the parsed
    file of the dialect's reducer option. `walk_entries` is the most entries of one namespace whose order one task may
    hold. `retry_namespaces` were refused by an earlier run: their changes are no longer in the feed.
    """

    previous_version: int | None
    version: int
    run_id: str
    reduced_at: datetime
    side_versions: Mapping[str, int] = field(default_factory=dict)
    reducer_options: Any = None
    walk_entries: int = 0
    retry_namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A namespace that was not reduced, since a limit forbids it: it keeps its rows and its state."""

    namespace: str
    message: str


@dataclass(frozen=True, slots=True)
class Reduction:
    """What one reduction gives: rows of the touched namespaces by table, and their rows of `namespace_state`.

    `deletes` are the keys (with bucket) of stored rows of these namespaces to delete, by table. `bounds` are ranges
    of a table's layout column outside of which no stored row has a key of the rows given or deleted. Nullable columns
    that `states` leaves out are null.
    """

    tables: Mapping[str, DataFrame]
    states: DataFrame
    deletes: Mapping[str, DataFrame] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class AdmitRequest:
    """What decides an admission besides the input.

    `replay` are rejected rows of `quarantine` that are judged again as if they came now, or None. `choices` is what the
    dialect made of its own options (`dialect_api.journals`), or None.
    """

    run_id: str
    deferred_per_namespace: int
    replay: DataFrame | None = None
    choices: object | None = None


@dataclass(frozen=True, slots=True)
class DemoFile:
    """One file of the demo: its name, what stands in it, how many records it holds, its bytes."""

    name: str
    what: str
    records: int
    content: bytes


@dataclass(frozen=True, slots=True)
class DemoRejection:
    """A record of the demo that is rejected, the only one of its namespace: where it stands, and its reason.

    `title` says it in words. Its evidence has the members expected and actual, and perhaps position, field and note.
    """

    title: str
    file: str
    namespace: str
    reason: str


@dataclass(frozen=True, slots=True)
class Demo:
    """What a dialect shows of itself: files, by name, a rejection in them to explain, and two queries over them.

    `query` is asked and shown with its rows, `next_query` offered.
    """

    files: tuple[DemoFile, ...]
    rejection: DemoRejection
    query: str
    next_query: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One journal format.

    `record_table` is its table of accepted records, `side_tables` the tables of what records need,
    `reduced` its reduced tables in the order of writing (without `namespace_state`), `kinds` its kinds of namespaces.
    `formats` are the formats of its files by name, each with the endings of names that tell it; empty where the content
    tells. `message_as` is the format of a message of Kafka, one line, where names tell formats. `split_format` says how
    a large file may be split; `records_in` counts the records of a file, given its decompressed content and its format;
    `admit` judges a batch; `reduce_new` and `reduce_all` fold; `export` writes records of namespaces that are held, in
    the format `exports_as` where names of files tell it; `to_files` spells rows, given by table, as files for another
    lake to judge: format, content (BINARY, a few MiB at most); `demo` makes the same files on every call. A dialect
    with a `reducer_option` is asked to reduce without news too: what it is told may have
    changed. `table_functions` are Arrow UDTFs by name: class and columns.
    """

    name: str
    kinds: tuple[str, ...]
    record_table: str
    reduced: tuple[str, ...]
    reducer_version: str
    lake_options: tuple[LakeOption, ...]
    formats: Mapping[str, tuple[str, ...]]
    split_format: Callable[[PlainFile], SplitFormat | None]
    records_in: Callable[[bytes, str | None], int]
    admit: Callable[[InputScan, Tables, Jobs, AdmitRequest], Admission]
    reduce_new: Callable[[DataFrame, Tables, Jobs, ReduceScope], Reduction]
    reduce_all: Callable[[Tables, Jobs, ReduceScope], Reduction]
    export: Callable[[LakeSnapshot, Jobs, Sequence[str]], ExportFile]
    demo: Callable[[], Demo]
    to_files: Callable[[Mapping[str, DataFrame], Tables, Jobs], DataFrame]
    side_tables: tuple[str, ...] = ()
    exports_as: str | None = None
    message_as: str | None = None
    reducer_option: ReducerOption | None = None
    table_functions: Mapping[str, tuple[type, str]] = field(default_factory=dict)

    @property
    def ingest_tables(self) -> tuple[str, ...]:
        """The tables that files bring rows of: all have namespace, bucket and record_id."""
        return (self.record_table, *self.side_tables)

"""Arguments and results of admission: the verdicts on one batch of input, ready to be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class TableInsert:
    """Accepted rows for one table, one per key; absent rows are inserted, with the run and the write time.

    `buckets` and `bounds` are the literals of the MERGE; `presorted` says that each task has rows in the order of the
    table, many rows of few buckets. `derived_keys` are keys of rows that are not records of the input, or None: they
    are not counted as new, but under the name `derived_as` if that is given. `is_derived` says that all rows are such.
    """

    table: str
    rows: DataFrame
    buckets: tuple[int, ...]
    bounds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    presorted: bool = False
    derived_keys: DataFrame | None = None
    derived_as: str | None = None
    is_derived: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """The verdicts of one batch, ready to be written.

    `inserts` are written in their order, so that the next run can complete the work after a kill between two of them.
    `counts` has read, accepted (of those read), rejected, deferred and the counts of the dialect. `findings` are
    FINDING_COLUMNS of `frames.quarantine`. `resolved` are the rows of `quarantine` that no longer wait (quarantine_id,
    bucket, namespace, record_id), or None; those whose record is inserted are counted as readmitted. `faults` counts
    records for which an internal fault occurred. `damaged` has the first break of each damaged file: source, and
    further columns, which become members of the report. `per_file` has file_no and records (the part of `read` from
    each file; a file without records has no row). `claims` has every record with an id, accepted or not: file_no,
    namespace, record_id, name (by which others refer to it) and follows (ARRAY<STRING>, the names of the records that
    it follows). Only manifests ask for both, and the plan of the latter takes a tenth of a second.
    """

    inserts: tuple[TableInsert, ...]
    counts: Mapping[str, int]
    findings: DataFrame | None
    namespaces: int
    resolved: DataFrame | None = None
    faults: int = 0
    damaged: DataFrame | None = None
    per_file: Callable[[], DataFrame] | None = None
    claims: Callable[[], DataFrame] | None = None


@dataclass(frozen=True, slots=True)
class AdmitRequest:
    """Arguments of an admission besides the input.

    `replay` are rejected rows of `quarantine` that are judged again like new input, or None. `options` is the result of
    the dialect's `parse_options`, or None without options. With `only_records` the input is rows of another lake, in
    which nothing is an announcement of a local node. `is_unlike_reduced` tells whether the record table was restored,
    replaced or made anew after its last reduction: then reduced tables may name records that are gone.
    """

    deferred_per_namespace: int
    replay: DataFrame | None = None
    options: object | None = None
    only_records: bool = False
    is_unlike_reduced: Callable[[], bool] = lambda: False

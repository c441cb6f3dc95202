"""What admission gets and gives: one batch of input, judged, ready to be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame


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
    readmitted. `faults` counts records that met a bug of this program. `damaged` has, per damaged file, the
    first break. `per_file` has file_no, records (what each file adds to `read`; without a row: none) and `claims` every
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
class AdmitRequest:
    """What decides an admission besides the input.

    `replay` are rejected rows of `quarantine` that are judged again like new input, or None. `options` is what the
    dialect's `parse_options` returned, or None if no option was given. With `records_alone` the input is
    rows of another lake: nothing of it is an announcement of a local node.
    """

    run_id: str
    deferred_per_namespace: int
    replay: DataFrame | None = None
    options: object | None = None
    records_alone: bool = False

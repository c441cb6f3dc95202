"""Arguments and results of a reduction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame

from strandline.dialect_api.refusals import Refused

WALK_ENTRIES: Final = 10_000_000
"""The usual limit of entries that one task walks: `limits.walk_entries` of conf/base.yaml."""


@dataclass(frozen=True, slots=True)
class ReduceScope:
    """The basis of a reduction: the record table up to `version`, after `previous_version` or from the start (None).

    `side_versions` are the versions of the dialect's side tables in this run. `reducer_options` is the result of the
    dialect's `parse_reducer_options`, `lake_options` are options of the lake by name: both can decide states, and so
    the reducer version. `options` is the result of `parse_options`, or None. `walk_entries` is the maximum number of
    entries of a namespace whose order one task can compute. `retry_namespaces` were refused by an earlier run: their
    changes are no longer in the change data feed. `full`: trust no derived column of a record, compute each one again.
    """

    previous_version: int | None
    version: int
    run_id: str
    side_versions: Mapping[str, int] = field(default_factory=dict)
    reducer_options: Any = None
    walk_entries: int = 0
    retry_namespaces: tuple[str, ...] = ()
    lake_options: Mapping[str, str] = field(default_factory=dict)
    options: object | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class InMemory:
    """The number of reduced namespaces and their buckets, sorted, where the driver has all reduced rows."""

    namespaces: int
    buckets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reduction:
    """The result of a reduction: rows of the touched namespaces by table, and their rows of `namespace_state`.

    `deletes` are the keys (with bucket) of stored rows of these namespaces to delete, by table. `bounds` are ranges of
    a table's layout column: no stored row outside of them has a key of the given or deleted rows. Nullable columns that
    `states` leaves out are null; `reduced_at` is set when the rows are written. With `in_memory` every frame is made of
    rows of the driver, and no table is without rows: no job needs to count or keep them. `damaged` has, by record
    table, namespaces (with repetitions) whose derived columns contradict their records: they were not used.
    """

    tables: Mapping[str, DataFrame]
    states: DataFrame
    deletes: Mapping[str, DataFrame] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    refused: Refused | None = None
    in_memory: InMemory | None = None
    damaged: Mapping[str, DataFrame] = field(default_factory=dict)

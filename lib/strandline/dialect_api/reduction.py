"""What a reduction gets and gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class ReduceScope:
    """What one reduction covers: the record table up to `version`; `previous_version` was reduced before, or None.

    `side_versions` are the versions of the dialect's side tables read by this run. `reducer_options` is what the
    dialect's `parse_reducer_options` returned, `lake_options` are the choices of the lake by option: both may decide
    states, and so the reducer version. `options` is what `parse_options` returned, or None. `walk_entries` is the most
    entries of one namespace whose order one task may hold. `retry_namespaces` were refused by an earlier run: their
    changes are no longer in the feed.
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
    that `states` leaves out are null; `reduced_at` is set when they are written.
    """

    tables: Mapping[str, DataFrame]
    states: DataFrame
    deletes: Mapping[str, DataFrame] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()

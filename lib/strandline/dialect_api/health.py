"""Health queries of a dialect, in SQL that Spark and delta-rs both support."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthPart:
    """One SELECT, and a cheap test whether it can return rows.

    `gate` counts (as `found`) the rows on which `select` depends; None if `select` itself is cheap. If the count is 0,
    `status` does not run `select`, and so reads no table of records.
    """

    select: str
    gate: str | None = None


@dataclass(frozen=True, slots=True)
class HealthSql:
    """What namespaces lack, over `tables` with bare names; used by the view `namespace_health` and by `status`.

    `behind` selects namespace and behind (BIGINT): the number of missing records and pairs. `stopped` selects namespace
    and code: why the writer of a local journal stopped.
    """

    tables: tuple[str, ...]
    behind: tuple[HealthPart, ...] = ()
    stopped: tuple[HealthPart, ...] = ()

"""What a dialect says of the health of namespaces, as SQL that Spark and delta-rs both read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthPart:
    """One SELECT, and what tells cheaply that it gives no rows.

    `gate` counts (as `found`) the rows that `select` is about; None if `select` itself is cheap. Where the count is 0,
    `status` leaves `select` out, so that it reads no table of records.
    """

    select: str
    gate: str | None = None


@dataclass(frozen=True, slots=True)
class HealthSql:
    """How local nodes fare, over `tables` with bare names: the view `namespace_health` and `status` are made of it.

    `behind` selects namespace and behind (BIGINT): own records and pairs that are missing. `stopped` selects namespace
    and code: why nothing is written on an own journal.
    """

    tables: tuple[str, ...]
    behind: tuple[HealthPart, ...] = ()
    stopped: tuple[HealthPart, ...] = ()

"""What tables say of local nodes, as SQL that delta-rs and Spark both read."""

from __future__ import annotations

from dataclasses import dataclass

Part = tuple[str | None, str]
"""A gate and a SELECT. The gate counts (as `found`) what the SELECT would read; at 0 the SELECT is skipped."""


@dataclass(frozen=True, slots=True)
class HealthSql:
    """How local nodes stand, over `tables`.

    `behind` selects namespace and behind: own records and pairs that are missing. `stopped` selects
    namespace and code: why nothing is written on an own journal.
    """

    tables: tuple[str, ...]
    behind: tuple[Part, ...]
    stopped: tuple[Part, ...]

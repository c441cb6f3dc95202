"""Maintenance of a table as text: compaction, removal of files, retention."""

from collections.abc import Sequence
from typing import Final

from strandline.contracts.quoting import quote_text

RETENTION_PROPERTIES: Final = ("delta.logRetentionDuration", "delta.deletedFileRetentionDuration")
"""How long a table keeps its commits, and the files that they removed."""


def optimize_sql(*, target: str, buckets: Sequence[int]) -> str:
    """Return the statement that compacts small files of these buckets, or of the whole table if there are none."""
    where = f" WHERE bucket IN ({', '.join(str(int(bucket)) for bucket in buckets)})" if buckets else ""
    return f"OPTIMIZE {target}{where}"


def vacuum_sql(*, target: str, days: int, dry_run: bool = False) -> str:
    """Return the statement that removes, or lists, the files that no version of the last days needs.

    An hour more: the clocks of writers differ.
    """
    return f"VACUUM {target} RETAIN {24 * int(days) + 1} HOURS{' DRY RUN' if dry_run else ''}"


def set_retention_sql(*, target: str, days: int) -> str:
    """Return the statement that sets how many days a table keeps its commits and the files that they removed."""
    interval = quote_text(f"interval {int(days)} days")
    stated = ", ".join(f"{quote_text(name)} = {interval}" for name in RETENTION_PROPERTIES)
    return f"ALTER TABLE {target} SET TBLPROPERTIES ({stated})"

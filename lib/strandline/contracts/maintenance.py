"""Maintenance of a table as text: compaction, removal of files, retention."""

from collections.abc import Sequence
from typing import Final

from strandline.contracts.bucket_ranges import in_buckets
from strandline.contracts.quoting import quote_name, quote_text

REMOVED_FILES: Final = "delta.deletedFileRetentionDuration"
RETENTION_PROPERTIES: Final = ("delta.logRetentionDuration", REMOVED_FILES)
"""How long a table keeps its commits, and the files that they removed."""


def optimize_sql(*, target: str, buckets: Sequence[int], order: Sequence[str] = ()) -> str:
    """Return the statement that compacts small files of these buckets, or of the whole table if there are none.

    With an `order` it rewrites all files of each bucket, so that rows with near values of these columns are together.
    """
    where = f" WHERE {in_buckets('bucket', buckets)}" if buckets else ""
    by = f" ZORDER BY ({', '.join(quote_name(name) for name in order)})" if order else ""
    return f"OPTIMIZE {target}{where}{by}"


def vacuum_sql(*, target: str, hours: int, dry_run: bool = False) -> str:
    """Return the statement that removes, or lists, the files that no version of the last hours needs."""
    return f"VACUUM {target} RETAIN {int(hours)} HOURS{' DRY RUN' if dry_run else ''}"


def purge_sql(*, target: str) -> str:
    """Return the statement that rewrites the files of which deletion vectors hide rows, without these rows."""
    return f"REORG TABLE {target} APPLY (PURGE)"


def set_retention_sql(*, target: str, days: int) -> str:
    """Return the statement that sets how many days a table keeps its commits and the files that they removed."""
    interval = quote_text(f"interval {int(days)} days")
    stated = ", ".join(f"{quote_text(name)} = {interval}" for name in RETENTION_PROPERTIES)
    return f"ALTER TABLE {target} SET TBLPROPERTIES ({stated})"

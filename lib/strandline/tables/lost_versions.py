"""Errors of Spark about versions of a table that cannot be read any more, or that have no changes."""

from __future__ import annotations

from typing import Final

from strandline.tables.damage import FILE_GONE
from strandline.tables.spark_errors import condition_of

_REMOVED: Final = frozenset(
    {
        "DELTA_LOG_FILE_NOT_FOUND", "DELTA_VERSION_NOT_FOUND", "DELTA_TRUNCATED_TRANSACTION_LOG",
        "DELTA_VERSIONS_NOT_CONTIGUOUS", "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
    }
)  # fmt: skip
"""Conditions of Delta's errors about a version that is no longer in the log, or older than the table keeps files."""
_WITHOUT_CHANGES: Final = _REMOVED | {
    "DELTA_MISSING_CHANGE_DATA", "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE",
    "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA",
}  # fmt: skip
"""Also those of versions of a table whose change data feed was off, or of which a column had another name or type."""


def is_removed(error: BaseException) -> bool:
    """Return whether the log cleanup or VACUUM removed the version that Spark was asked for."""
    return condition_of(error) in _REMOVED or _is_file_gone(error)


def has_no_changes(error: BaseException) -> bool:
    """Return whether the change data feed does not have the versions that Spark was asked for, or not any more."""
    return condition_of(error) in _WITHOUT_CHANGES or _is_file_gone(error)


def _is_file_gone(error: BaseException) -> bool:
    return FILE_GONE.search(str(error)) is not None

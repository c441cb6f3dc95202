"""Broadcast hints of frames with a row per log: a name may be long, and the number of logs has no bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.frames.one_task import broadcast

BROADCAST_BYTES: Final = 16 * 1024 * 1024
"""The bytes of rows that one broadcast may have. The driver holds them some times over, for each of a dozen joins."""
_ROW_BYTES: Final = 64
"""The bytes of a row besides its texts: digests and numbers, among them the start of a clock id."""

Hint = Callable[[DataFrame], DataFrame]
"""What a join does with its side that has a row per log: adds the broadcast hint, or nothing."""


def unhinted(frame: DataFrame) -> DataFrame:
    """Return `frame`: Spark chooses the join."""
    return frame


def hint_of(size: int | None) -> Hint:
    """Return the hint for frames of so many bytes; None is the sum of no rows."""
    return broadcast if is_small(size) else unhinted


def is_small(size: int | None) -> bool:
    """Return whether rows of so many bytes may be broadcast; None is the sum of no rows."""
    return (size or 0) <= BROADCAST_BYTES


def name_bytes() -> Column:
    """Sum the bytes of rows with a namespace."""
    return F.sum(F.octet_length("namespace") + F.lit(_ROW_BYTES))


def entry_bytes() -> Column:
    """Sum the bytes of rows with a namespace, one for each entry of logs.

    Reads:  namespace, record_count.
    """
    return F.sum(F.col("record_count") * (F.octet_length("namespace") + F.lit(_ROW_BYTES)))


def broadcast_if_small(frame: DataFrame, name: str, jobs: Jobs, most: int | None = None) -> DataFrame:
    """Return `frame` with the broadcast hint if it has few bytes: changes have no bound.

    It is a checkpoint, whose rows are counted, unless it is known to have at most so many bytes (`most`).

    Reads:  namespace, ..
    """
    if most is not None and most <= BROADCAST_BYTES:
        return hint_of(most)(frame)
    kept = jobs.checkpoint(frame, name)
    return hint_of(jobs.row(kept.agg(name_bytes().alias("bytes")))["bytes"])(kept)

"""The options `--erase` and `--now` of `gc`."""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from strandline.cli.given import known_dialect
from strandline.core.errors import UsageError
from strandline.dialects import infos

if TYPE_CHECKING:
    from strandline.dialect_api.pruning import Erasing

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_DAYS: Final = 3_652_059
"""Days of the calendar of Python: from year 1 to the end of year 9999."""


def erasures(given: Iterable[str], now: str | None, dialects: Collection[str] = ()) -> "dict[str, Erasing]":
    """Return what may be erased, by dialect, from texts `DIALECT` or `DIALECT:DAYS`.

    `dialects` are the only ones to collect; none: all.

    Raises: UsageError DIALECT_UNKNOWN, DIALECTS_DIFFER (not one of `dialects`), ERASE_UNKNOWN (records of the dialect
    have no such part), ERASE_TWICE (a dialect with two texts), ERASE_DAYS (no number of days), ERASE_TIME (days without
    a time, a time without days, no ISO 8601 time in UTC, or a day before year 1).
    """
    from strandline.dialect_api.pruning import Erasing

    parts = [text.partition(":") for text in given]
    if any(colon for _, colon, _ in parts) != (now is not None):
        raise UsageError(
            "ERASE_TIME",
            "--now is the time that the days of --erase count from: one needs the other.",
            "Give both, as in --erase devicelog:365 --now 2026-11-25T00:00:00Z, or neither.",
        )
    for name, count in Counter(name for name, _, _ in parts).items():
        if count > 1:
            raise UsageError(
                "ERASE_TWICE",
                f"--erase is given {count} times for {name}, and an erasure cannot be undone.",
                f"Give --erase once for {name}, with the days that you mean or without days.",
            )
    at = None if now is None else _time(now)
    found = {
        _erasable(name): Erasing(None if at is None or not colon else _before(at, days))
        for name, colon, days in parts
    }
    for name in found:
        if dialects and name not in dialects:
            raise UsageError(
                "DIALECTS_DIFFER",
                f"--erase names {name}, and --dialect leaves it out.",
                f"Add --dialect {name}, or leave out --erase.",
            )
    return found


def _erasable(name: str) -> str:
    known_dialect(name, "gc")
    if infos()[name].erasable is None:
        others = ", ".join(each for each, info in infos().items() if info.erasable is not None)
        raise UsageError(
            "ERASE_UNKNOWN",
            f"records of {name} have no part that can be erased.",
            f"Name one of: {others}.",
        )
    return name


def _before(at: datetime, text: str) -> int:
    """Return the first millisecond that is too young."""
    if not (
        text.isascii()
        and text.isdecimal()
        and int(text[:8]) <= _MAX_DAYS
        and len(text) <= len(str(_MAX_DAYS))
    ):
        raise UsageError(
            "ERASE_DAYS",
            f"{text!r} is no number of days from 0 to {_MAX_DAYS}.",
            "Give days, as in --erase devicelog:365.",
        )
    try:
        return (at - timedelta(days=int(text)) - _EPOCH) // timedelta(milliseconds=1)
    except OverflowError:
        raise UsageError(
            "ERASE_TIME", f"{text} days before --now is before year 1.", "Give fewer days."
        ) from None


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.utcoffset() != timedelta(0):
        raise UsageError(
            "ERASE_TIME", f"--now {text!r} is no time in UTC.", "Give it as 2026-11-25T00:00:00Z."
        )
    return found

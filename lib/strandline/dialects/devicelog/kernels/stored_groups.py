"""Rows of reduced tables as the start of an increment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.dialects.devicelog.reduce import empty_view_hash
from strandline.dialects.devicelog.reduce.branches import NONE, Key
from strandline.dialects.devicelog.reduce.increment import Bounds, Tail, Tip
from strandline.dialects.devicelog.types import MAX_NUMBER

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredTips:
    """The tips of a group without forks, by log, and their rows.

    `branches` are the names of branches, by log. `is_waiting`: a log is waited for that has no entry.
    """

    rows: Sequence[Row]
    tips: Mapping[bytes, Tip]
    branches: Mapping[bytes, bytes]
    is_waiting: bool


def stored_tips(rows: Sequence[Row], rewinds: Mapping[bytes, int]) -> StoredTips | None:
    """Return the tips of a group from its rows of `device_log_tip`, or None if an increment cannot start from them.

    `rewinds` are the positions to which the last screws rewound, by log. An increment cannot start if a log is forked
    or has several tips, if a past is null because it has too many branches, or if there are no rows because the group
    is new.
    """
    written = [row for row in rows if row["record_id"] is not None]
    branches = {row["log"]: row["branch"] for row in written}
    logs = {branch: log for log, branch in branches.items()}
    tips: dict[bytes, Tip] = {}
    for row in written:
        past = _by_log(row["past"], logs)
        if past is None or row["forked"] or row["log"] in tips:
            return None
        tips[row["log"]] = Tip(
            row["record_id"], row["seq"], row["lamport"], past, row["behind"], row["status"] == "active", row["waited"],
            _kept(row), rewinds.get(row["log"]),
        )  # fmt: skip
    is_waiting = any(row["waited"] and row["record_id"] is None for row in rows)
    return StoredTips(rows, tips, branches, is_waiting) if tips else None


def _by_log(past: Iterable[Row] | None, logs: Mapping[bytes, bytes]) -> Bounds | None:
    if past is None:
        return None
    found = {logs.get(each["branch"]): each["seq"] for each in past}
    return {log: seq for log, seq in found.items() if log is not None} if None not in found else None


def _kept(row: Row) -> int:
    """Return the greatest effective seq of a log."""
    if row["status"] == "void":
        return NONE
    return MAX_NUMBER if row["cut_seq"] is None else int(row["cut_seq"])


@dataclass(frozen=True, slots=True)
class StoredTail:
    """The rows of a view that are not final, and the id of the last final one."""

    tail: Tail
    before: bytes | None


def stored_tail(group: bytes, rows: Iterable[Row]) -> StoredTail | None:
    """Return the end of a view from rows of `device_log_view`: those that are not final, and the last final one.

    None if they do not follow one another.
    """
    ordered = sorted(rows, key=lambda row: int(row["position"]))
    start, first_hash, before = 0, empty_view_hash(group), None
    if ordered and ordered[0]["final"]:
        last = ordered.pop(0)
        start, first_hash, before = last["position"] + 1, last["prefix_hash"], last["record_id"]
    if [row["position"] for row in ordered] != list(range(start, start + len(ordered))):
        return None
    keys: list[Key] = [(row["lamport"], row["utc"], row["record_id"]) for row in ordered]
    places = [(row["log"], row["seq"]) for row in ordered]
    hashes = [first_hash, *(row["prefix_hash"] for row in ordered)]
    return StoredTail(Tail(start, keys, places, hashes), before)

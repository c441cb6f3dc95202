"""The changes of an increment, as rows of the reduced tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strandline.dialects.devicelog.kernels.reduced_rows import Row, bounds_row, statement_row
from strandline.dialects.devicelog.kernels.stored_groups import StoredTips
from strandline.dialects.devicelog.reduce import LogState, state_hash
from strandline.dialects.devicelog.reduce.increment import Bounds, Increment, JudgedScrew, effective
from strandline.dialects.devicelog.reduce.screws import statement_of
from strandline.dialects.devicelog.types import ForkPolicy, Header


def state_row(group: bytes, policy: ForkPolicy, stored: StoredTips, found: Increment, count: int) -> Row:
    """Return the state of the group; `count` is the number of its entries."""
    logs = (
        LogState(
            row["log"], row["status"], row["cut_seq"], row["cut_id"], forked=False,
            tips=(found.tips[row["log"]].record_id,) if row["log"] in found.tips else (),
        )
        for row in stored.rows
    )  # fmt: skip
    v_n = found.tail.hashes[-1]
    return {"state_hash": state_hash(policy, group, found.tail.length, v_n, logs), "record_count": count}


def view_rows(stored: StoredTips, before: bytes | None, found: Increment) -> Iterator[Row]:
    """Yield the rows of the view that changed or became final; `before` is the message before the view's end."""
    tail, previous = found.tail, before
    for place, ((lamport, utc, record_id), (log, seq)) in enumerate(zip(tail.keys, tail.places, strict=True)):
        position = tail.start + place
        if position < found.final_length or position >= found.changed_from:
            yield {
                "record_id": record_id, "log": log, "branch": stored.branches[log], "seq": seq, "lamport": lamport,
                "utc": utc, "status": "effective", "final": position < found.final_length, "position": position,
                "previous": previous, "prefix_hash": tail.hashes[place + 1],
            }  # fmt: skip
        previous = record_id


def screw_rows(stored: StoredTips, found: Increment) -> Iterator[Row]:
    """Yield one row per new screw."""
    return (_screw(stored, each) for each in found.screws)


def _screw(stored: StoredTips, each: JudgedScrew) -> Row:
    return _entry(stored, each.screw) | statement_row(statement_of(each.screw)) | {
        "before_bounds": _bounds(stored, each.before), "after_bounds": _bounds(stored, each.after),
        "verdict": each.verdict, "past_earlier": each.past_earlier,
    }  # fmt: skip


def tip_rows(stored: StoredTips, found: Increment, new: Iterable[Header]) -> Iterator[Row]:
    """Yield one row per log: the stored row, with the new tip if the log grew."""
    headers = {header.record_id: header for header in new}
    for row in stored.rows:
        tip = found.tips.get(row["log"])
        if tip is None:
            yield row | {"behind": found.tail.length}
        elif tip.is_new:
            yield row | _entry(stored, headers[tip.record_id]) | {
                "past": _bounds(stored, tip.past), "bounds": _bounds(stored, effective(found.tips, tip.past)),
                "behind": tip.behind,
            }  # fmt: skip
        else:
            yield row | {"behind": tip.behind}


def _entry(stored: StoredTips, header: Header) -> Row:
    return {
        "record_id": header.record_id, "log": header.log, "branch": stored.branches[header.log], "seq": header.seq,
        "lamport": header.lamport, "utc": header.utc,
    }  # fmt: skip


def _bounds(stored: StoredTips, bounds: Bounds) -> list[Row] | None:
    return bounds_row((stored.branches[log], seq) for log, seq in bounds.items())

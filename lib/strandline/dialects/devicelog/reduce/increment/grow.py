"""The state of a group from its stored state and a few new entries, without the entries below them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strandline.dialects.devicelog.reduce.branches import NONE, key_of
from strandline.dialects.devicelog.reduce.increment.screws import JudgedScrew, judged
from strandline.dialects.devicelog.reduce.increment.stored import Tail, Tip, knows_all, removals_of
from strandline.dialects.devicelog.reduce.increment.tips import can_extend, grown_tips, pasts_of
from strandline.dialects.devicelog.reduce.view import step
from strandline.dialects.devicelog.types import Header

MAX_BOUNDS: Final = 4_000_000
"""Values of pasts, entries times logs: at most 150 MiB."""


@dataclass(frozen=True, slots=True)
class Increment:
    """The result after the new entries: the end of the view, the tips of all logs, the new screws, the final length.

    Rows of the view below `changed_from` keep their positions and hashes.
    """

    tail: Tail
    changed_from: int
    tips: dict[bytes, Tip]
    final_length: int
    screws: tuple[JudgedScrew, ...]


def increment(
    tips: Mapping[bytes, Tip],
    tail: Tail,
    final_length: int,
    window: Iterable[Header],
    new: Iterable[Header],
    *,
    is_waiting: bool = False,
) -> Increment | None:
    """Return the result after new entries, or None if the group must be reduced from all of its entries.

    `tips` are those of all logs with entries, each unforked. `window` are the stored entries above `needed_above`.
    `tail` starts at or below the final length, and every new message comes after its start. `is_waiting`: a log is
    waited for that has no entry, so that no row can be final. The group must be reduced in full
    - if a new entry states membership, or does not extend the tip of an active log;
    - if a new tip or a screw has not seen all remove-log entries;
    - if a screw rewinds to before `tail`, names heads before `window`, follows a remove-log, or its heads do not fit;
    - if the pasts of `window` and `new` have too many values (MAX_BOUNDS) for memory;
    - if rows become final in a group without final rows: its membership, which is not known here, can forbid that.
    """
    fresh = sorted({header.record_id: header for header in new}.values(), key=_parents_first)
    held = {header.record_id: header for header in sorted([*window, *fresh], key=_parents_first)}
    if not can_extend(tips, fresh) or len(held) * len(tips) > MAX_BOUNDS:
        return None
    pasts = pasts_of(tips, held.values())
    grown = grown_tips(tips, tail.length, fresh, held.values(), pasts)
    removals = removals_of(held.values())
    if not all(knows_all(removals, tip.past) for tip in grown.values() if tip.is_new):
        return None
    changed_from, longer = _longer(tail, fresh)
    screws = judged(tips, longer, fresh, held, pasts)
    final = 0 if is_waiting else _final(grown, longer, final_length)
    if screws is None or (final and not final_length):
        return None
    return Increment(longer, changed_from, grown, final, screws)


def _parents_first(header: Header) -> tuple[int, int]:
    return header.lamport, header.seq


def _longer(tail: Tail, fresh: Sequence[Header]) -> tuple[int, Tail]:
    """Return the first position that changes, and the end of the view with the new messages in it.

    It is hashed from the first of them. All are effective: their logs are active.
    """
    added = [header for header in fresh if header.kind == "msg"]
    same = min((bisect_left(tail.keys, key_of(each)) for each in added), default=len(tail.keys))
    rows = sorted([
        *zip(tail.keys[same:], tail.places[same:], strict=True),
        *((key_of(each), (each.log, each.seq)) for each in added),
    ])  # fmt: skip
    hashes = list(tail.hashes[: same + 1])
    for key, _ in rows:
        hashes.append(step(hashes[-1], key[2]))
    keys = [*tail.keys[:same], *(key for key, _ in rows)]
    places = [*tail.places[:same], *(place for _, place in rows)]
    return tail.start + same, Tail(tail.start, keys, places, hashes)


def _final(tips: Mapping[bytes, Tip], view: Tail, final_length: int) -> int:
    """Return the number of leading rows that every log that is waited for has seen."""
    waited = [tip.past for tip in tips.values() if tip.is_waited]
    for log, seq in view.places[final_length - view.start :]:
        if any(seq > past.get(log, NONE) for past in waited):
            break
        final_length += 1
    return final_length

"""The state of a group from its stored state and a few new entries, without the entries below them.

It is exact if all logs are unforked and the new entries are messages, acks and screws that extend tips of active logs.
Everything is by log here, since without forks a log is one branch.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from strandline.dialects.devicelog.reduce.graph import NONE, Branch, Key, key_of
from strandline.dialects.devicelog.reduce.screws import verdict_on
from strandline.dialects.devicelog.reduce.view import View, step
from strandline.dialects.devicelog.types import Header, ScrewStatement

Bounds = dict[bytes, int]
"""Greatest seq by log."""

_KINDS: Final = ("msg", "ack", "screw")
_MEMBERSHIP: Final = ("key", "add-log", "remove-log")


@dataclass(frozen=True, slots=True)
class Tip:
    """The tip of a log: its past, how many rows of the view it has not seen, and the last screw's rewind or None.

    `kept` is the greatest effective seq of the log, NONE if it is void. `is_new`: it is one of the new entries.
    """

    record_id: bytes
    seq: int
    lamport: int
    past: Bounds
    behind: int
    is_active: bool
    is_waited: bool
    kept: int
    rewind: int | None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a view: its rows from position `start` on, and v_start to v_n."""

    start: int
    keys: Sequence[Key]
    places: Sequence[tuple[bytes, int]]
    hashes: Sequence[bytes]

    @property
    def length(self) -> int:
        """The number of rows of the whole view."""
        return self.start + len(self.keys)


@dataclass(frozen=True, slots=True)
class JudgedScrew:
    """The verdict on a new screw, with the effective bounds before and after it."""

    screw: Header
    verdict: str
    before: Bounds
    after: Bounds
    past_earlier: bool


@dataclass(frozen=True, slots=True)
class Increment:
    """What changes: the view from its first changed row on, tips of all logs, new screws, the final length."""

    tail: Tail
    tips: dict[bytes, Tip]
    final_length: int
    screws: tuple[JudgedScrew, ...]


def needed_above(tips: Mapping[bytes, Tip], new: Iterable[Header]) -> Bounds:
    """Return, by log, the seq above which stored entries are needed.

    All below is in the past of every tip that grows. The tips themselves are needed.
    """
    growing = {header.log for header in new} & tips.keys()
    return {
        log: min([tip.seq - (log in growing), *(tips[each].past.get(log, NONE) for each in growing)])
        for log, tip in tips.items()
    }


def increment(
    tips: Mapping[bytes, Tip], tail: Tail, final_length: int, window: Iterable[Header], new: Iterable[Header]
) -> Increment | None:
    """Return what new entries change, or None if the group must be reduced from all of its entries.

    `tips` are those of all logs with entries, each unforked. `window` are the stored entries above `needed_above`.
    `tail` starts at or below the final length and every message of `window` and `new`. It must be reduced in full
    - if no row was final: a key entry that is not there yet could then change ranks;
    - if a new entry states membership, or does not extend the tip of an active log;
    - if a new tip or a screw has not seen all membership entries;
    - if a screw rewinds to before `tail`, or names heads before `window`.
    """
    fresh = sorted({header.record_id: header for header in new}.values(), key=_parents_first)
    held = {header.record_id: header for header in sorted([*window, *fresh], key=_parents_first)}
    if not final_length or not _extend(tips, fresh):
        return None
    pasts = _pasts(tips, held.values())
    grown = _grown(tips, tail, fresh, held.values(), pasts)
    longer = _longer(tail, tips, fresh)
    screws = _screws(tips, longer, fresh, held, pasts)
    if screws is None or not all(
        _knows_all(tips, held.values(), tip.past) for tip in grown.values() if tip.is_new
    ):
        return None
    first = min(
        (bisect_left(tail.keys, key_of(each)) for each in fresh if each.kind == "msg"), default=len(tail.keys)
    )
    changed = Tail(tail.start + first, longer.keys[first:], longer.places[first:], longer.hashes[first:])
    return Increment(changed, grown, _final(grown, longer, final_length), screws)


def _parents_first(header: Header) -> tuple[int, int]:
    return header.lamport, header.seq


def _extend(tips: Mapping[bytes, Tip], fresh: Iterable[Header]) -> bool:
    """Return whether new entries of the right kinds extend single tips of active logs."""
    newest = {log: tip.record_id for log, tip in tips.items() if tip.is_active}
    for header in fresh:
        if header.kind not in _KINDS or header.prev is None or newest.get(header.log) != header.prev:
            return False
        newest[header.log] = header.record_id
    return True


def _pasts(tips: Mapping[bytes, Tip], ordered: Iterable[Header]) -> dict[bytes, Bounds]:
    """Return the past of each entry, parents first: those of new entries exactly.

    What is left out of those of the window is in the past of every tip that grows.
    """
    pasts = {tip.record_id: tip.past for tip in tips.values()}
    for header in ordered:
        if header.record_id not in pasts:
            past = dict(pasts.get(header.prev, {})) if header.prev is not None else {}
            for dep in header.deps:
                _join(past, pasts.get(dep, {}))
            past[header.log] = header.seq
            pasts[header.record_id] = past
    return pasts


def _join(past: Bounds, other: Bounds) -> None:
    for log, seq in other.items():
        if seq > past.get(log, NONE):
            past[log] = seq


def _grown(
    tips: Mapping[bytes, Tip],
    tail: Tail,
    fresh: Sequence[Header],
    ordered: Iterable[Header],
    pasts: Mapping[bytes, Bounds],
) -> dict[bytes, Tip]:
    """Return the tips after the new entries."""
    seqs: dict[bytes, list[int]] = {log: [] for log in tips}
    for header in ordered:
        if header.kind == "msg" and header.seq <= tips[header.log].kept:
            seqs[header.log].append(header.seq)
    added = sum(header.kind == "msg" for header in fresh)
    found = {log: replace(tip, behind=tip.behind + added, is_new=False) for log, tip in tips.items()}
    for header in fresh:
        old, past = tips[header.log], pasts[header.record_id]
        seen = tail.length - old.behind
        for log, seq in past.items():
            seen += bisect_right(seqs[log], seq) - bisect_right(seqs[log], old.past.get(log, NONE))
        rewind = (
            header.statement.rewind
            if isinstance(header.statement, ScrewStatement)
            else found[header.log].rewind
        )
        found[header.log] = replace(
            old, record_id=header.record_id, seq=header.seq, lamport=header.lamport, past=past,
            behind=tail.length + added - seen, rewind=rewind, is_new=True,
        )  # fmt: skip
    return found


def _longer(tail: Tail, tips: Mapping[bytes, Tip], fresh: Iterable[Header]) -> Tail:
    """Return the end of the view with the new messages in it: hashed from the first of them."""
    added = [header for header in fresh if header.kind == "msg" and header.seq <= tips[header.log].kept]
    rows = sorted(
        [*zip(tail.keys, tail.places, strict=True), *((key_of(each), (each.log, each.seq)) for each in added)]
    )
    same = min((bisect_left(tail.keys, key_of(each)) for each in added), default=len(tail.keys))
    hashes = list(tail.hashes[: same + 1])
    for key, _ in rows[same:]:
        hashes.append(step(hashes[-1], key[2]))
    return Tail(tail.start, [key for key, _ in rows], [place for _, place in rows], hashes)


def _knows_all(tips: Mapping[bytes, Tip], ordered: Iterable[Header], past: Bounds) -> bool:
    """Return whether a past holds all membership entries, so that the effective entries in it are known."""
    return all(log in past for log in tips) and all(
        header.seq <= past[header.log] for header in ordered if header.kind in _MEMBERSHIP
    )


def _effective(tips: Mapping[bytes, Tip], past: Bounds) -> Bounds:
    return {log: min(seq, tips[log].kept) for log, seq in past.items() if tips[log].kept != NONE}


def _screws(
    tips: Mapping[bytes, Tip],
    longer: Tail,
    fresh: Iterable[Header],
    held: Mapping[bytes, Header],
    pasts: Mapping[bytes, Bounds],
) -> tuple[JudgedScrew, ...] | None:
    """Return the new screws with their verdicts, or None if what is given does not decide one."""
    numbers, view = _view_of(longer)
    rewinds = {log: tip.rewind for log, tip in tips.items()}
    found = []
    for header in fresh:
        if not isinstance(header.statement, ScrewStatement):
            continue
        screw, earlier = header.statement, rewinds[header.log]
        rewinds[header.log] = screw.rewind
        own = pasts[header.record_id] | {header.log: header.seq - 1}
        before: Bounds = {}
        for head in screw.from_heads:
            if head not in held or held[head].seq > own.get(held[head].log, NONE):
                return None
            _join(before, pasts[head])
        if screw.from_heads.count(header.prev or b"") != 1 or held[header.prev or b""].kind == "remove-log":
            return None
        if screw.rewind < longer.start or not _knows_all(tips, held.values(), before):
            return None
        bounds = _effective(tips, before), _effective(tips, own)
        numbered = [{numbers[log]: seq for log, seq in each.items() if log in numbers} for each in bounds]
        verdict = verdict_on(screw, view, numbered[0], numbered[1], longer.start)
        past_earlier = earlier is not None and screw.rewind < earlier
        found.append(JudgedScrew(header, verdict, *bounds, past_earlier))
    return tuple(found)


def _view_of(tail: Tail) -> tuple[dict[bytes, int], View]:
    """Return the end of a view by logs, which have numbers, as a view that can move."""
    numbers: dict[bytes, int] = {}
    branches: list[Branch] = []
    for (log, seq), key in sorted(zip(tail.places, tail.keys, strict=True)):
        if log not in numbers:
            numbers[log] = len(branches)
            branches.append(Branch(log, NONE, len(branches)))
        branches[numbers[log]].message_seqs.append(seq)
        branches[numbers[log]].message_keys.append(key)
    return numbers, View(branches, tail.hashes[0])


def _final(tips: Mapping[bytes, Tip], view: Tail, final_length: int) -> int:
    """Return the number of leading rows that every log that is waited for has seen."""
    waited = [tip.past for tip in tips.values() if tip.is_waited]
    for log, seq in view.places[final_length - view.start :]:
        if any(seq > past.get(log, NONE) for past in waited):
            break
        final_length += 1
    return final_length

"""A reduced group as rows of its tables."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from strandline.dialects.devicelog.reduce import Screw, State
from strandline.dialects.devicelog.reduce.bounds import Sums
from strandline.dialects.devicelog.reduce.screws import statement_of
from strandline.dialects.devicelog.types import AddStatement, KeyStatement, RemoveStatement, ScrewStatement

MAX_BOUNDS: Final = 1024
"""Branches of a past that is stored; a greater one is null."""

Row = dict[str, Any]


def state_row(state: State) -> Row:
    """Return the state of the group."""
    return {"state_hash": state.state_hash, "record_count": len(state.graph.entries)}


def view_rows(state: State) -> Iterator[Row]:
    """Yield one row per message: those of the view in order, then the others by id."""
    graph = state.graph
    previous = None
    for position, record_id in enumerate(state.view):
        yield _entry(state, graph.index[record_id]) | {
            "status": "effective", "final": position < state.final_length, "position": position,
            "previous": previous, "prefix_hash": state.hashes[position + 1],
        }  # fmt: skip
        previous = record_id
    shown = set(state.view)
    others = (
        index
        for index, header in enumerate(graph.entries)
        if header.kind == "msg" and header.record_id not in shown
    )
    for index in sorted(others, key=lambda index: graph.entries[index].record_id):
        yield _entry(state, index) | {"status": state.message_status(index), "final": False}


def screw_rows(state: State) -> Iterator[Row]:
    """Yield one row per screw, log by log."""
    for screw in state.judged_screws():
        yield _screw(state, screw)


def _screw(state: State, screw: Screw) -> Row:
    statement = statement_of(state.graph.entries[screw.index])
    return _entry(state, screw.index) | statement_row(statement) | {
        "before_bounds": _bounds(state, screw.before), "after_bounds": _bounds(state, screw.after),
        "verdict": screw.verdict, "past_earlier": screw.past_earlier,
    }  # fmt: skip


def statement_row(screw: ScrewStatement) -> Row:
    """Return the statement of a screw as a row."""
    return {
        "rewind": screw.rewind, "n_before": screw.n_before, "n_after": screw.n_after, "v_rewind": screw.v_rewind,
        "v_before": screw.v_before, "v_after": screw.v_after, "from_heads": list(screw.from_heads),
    }  # fmt: skip


def tip_rows(state: State) -> Iterator[Row]:
    """Yield one row per tip, and one per log with a status but without entries."""
    # Logs are resolved in ascending rank.
    seniority = {} if state.is_feed else {log: place for place, log in enumerate(state.membership.ranks)}
    seqs = _shown_seqs(state)
    seen = Sums(lambda branch, seq: bisect_right(seqs.get(branch, ()), seq))
    branches = Sums(lambda _branch, _seq: 1)
    for log, status in state.statuses.items():
        base = {
            "log": log, "status": status, "forked": log in state.forked, "waited": log in state.waited,
            "seniority": seniority.get(log), "gaps": 0, **_cut(state, log),
        }  # fmt: skip
        tips = state.graph.tips(log)
        if not tips:
            yield base | {
                "seniority": None,
                "granted_by": _pending_grant(state, log),
                "behind": len(state.view),
            }
        for tip in tips:
            gaps = state.graph.gaps.get(log, 0) if tip == tips[0] else 0
            past = state.graph.past(tip)
            yield base | _tip(state, tip) | {
                "past": _bounds(state, dict(past.items()) if branches.total(past) <= MAX_BOUNDS else None),
                "bounds": _bounds(state, state.memberships.within_past(past, MAX_BOUNDS)),
                "behind": len(state.view) - seen.total(past), "gaps": gaps,
            }  # fmt: skip


def _shown_seqs(state: State) -> dict[int, list[int]]:
    """Return the seqs of the rows of the view by branch, ascending."""
    found: dict[int, list[int]] = {}
    for record_id in state.view:
        index = state.graph.index[record_id]
        found.setdefault(state.graph.branch[index], []).append(state.graph.entries[index].seq)
    return found


def _cut(state: State, log: bytes) -> Row:
    cut = state.membership.cuts.get(log)
    if cut is None:
        return {}
    entries = state.graph.entries
    last = None if cut.last is None else entries[cut.last].record_id
    return {"cut_seq": cut.seq, "cut_id": last, "removed_by": entries[cut.removal].record_id}


def _pending_grant(state: State, log: bytes) -> bytes:
    """Return the first effective grant; removals withdraw the later ones first, so it is the first that stays, too."""
    _, first = state.membership.grants[log][0]
    return state.graph.entries[first].record_id


def _tip(state: State, tip: int) -> Row:
    graph = state.graph
    start = graph.entries[graph.first(graph.branches[graph.branch[tip]].root)]
    key = start.statement
    return _entry(state, tip) | {
        "label": key.label if isinstance(key, KeyStatement) else None,
        "granted_by": start.deps[0] if start.kind == "key" and start.deps else None,
    }  # fmt: skip


def member_rows(state: State) -> Iterator[Row]:
    """Yield one row per log that a membership entry names."""
    for index in state.graph.membership:
        header = state.graph.entries[index]
        base = {"record_id": header.record_id, "author": header.log}
        status = state.membership.entry_status(state.graph, index)
        match header.statement:
            case KeyStatement(_, initial):
                for log in initial:
                    yield base | {"log": log, "act": "found", "verdict": status}
            case AddStatement(log):
                yield base | {"log": log, "act": "add", "verdict": status}
            case RemoveStatement(log, last_seq, last_id):
                verdict = state.membership.verdicts[index]
                removed = {"log": log, "act": "remove", "verdict": verdict}
                yield base | removed | {"last_seq": last_seq, "last_id": last_id}
            case _:
                pass


def _entry(state: State, index: int) -> Row:
    header = state.graph.entries[index]
    return {
        "record_id": header.record_id, "log": header.log, "branch": state.graph.name(state.graph.branch[index]),
        "seq": header.seq, "lamport": header.lamport, "utc": header.utc,
    }  # fmt: skip


def _bounds(state: State, bounds: Mapping[int, int] | None) -> list[Row] | None:
    if bounds is None:
        return None
    return bounds_row((state.graph.name(branch), seq) for branch, seq in bounds.items())


def bounds_row(named: Iterable[tuple[bytes, int]]) -> list[Row] | None:
    """Return bounds by the names of branches, ascending; None for more than MAX_BOUNDS."""
    ordered = sorted(named)
    if len(ordered) > MAX_BOUNDS:
        return None
    return [{"branch": branch, "seq": seq} for branch, seq in ordered]

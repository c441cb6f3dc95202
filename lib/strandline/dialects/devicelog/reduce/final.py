"""The final prefix: rows of the view that no later record moves while no log forks that is waited for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership import EFFECTIVE, LAST, Membership
from strandline.dialects.devicelog.types import RemoveStatement


def waited_logs(graph: Graph, membership: Membership) -> set[bytes]:
    """Return the logs that a final row waits for: active, pending, and those that left until another removes them."""
    removed_by_others = {
        removal.log
        for index, removal in effective_removals(graph, membership)
        if graph.entries[index].log != removal.log
    }
    return {
        log
        for log, status in membership.statuses.items()
        if status in ("active", "pending") or (status == "removed" and log not in removed_by_others)
    }


def effective_removals(graph: Graph, membership: Membership) -> list[tuple[int, RemoveStatement]]:
    """Return the effective remove-log entries, with what they state."""
    return [
        (index, statement)
        for index, verdict in membership.verdicts.items()
        if verdict == EFFECTIVE and isinstance(statement := graph.entries[index].statement, RemoveStatement)
    ]


def may_start_anew(graph: Graph, membership: Membership) -> bool:
    """Return whether a key entry that is not there yet could change the rank of a void or removed log.

    So it is if an effective grant of the log ranks before it and, if it is void, before all others that remove it.
    """
    first_removers = dict.fromkeys(membership.statuses, LAST)
    for index, removal in effective_removals(graph, membership):
        author = graph.entries[index].log
        if author != removal.log:
            rank = membership.ranks.get(author, LAST)
            first_removers[removal.log] = min(first_removers.get(removal.log, LAST), rank)
    for log, status in membership.statuses.items():
        if status not in ("void", "removed") or log not in membership.grants:
            continue
        least = membership.grants[log][0][0]
        bound = first_removers[log] if status == "void" else membership.ranks[log]
        if least < bound:
            return True
    return False


def final_bounds(graph: Graph, membership: Membership) -> Mapping[int, int] | None:
    """Return the bounds by branch within which leading rows of the view are final, or None if no row is.

    No row is final if a void or removed log may start anew, or a log that is waited for has no entry or several tips,
    or its tip has not seen an effective remove-log.
    """
    if may_start_anew(graph, membership):
        return None
    waited = waited_logs(graph, membership)
    settled: dict[int, int] = {}
    for index, _ in effective_removals(graph, membership):
        number = graph.branch[index]
        settled[number] = max(settled.get(number, NONE), graph.entries[index].seq)
    bounds: dict[int, int] | None = None
    for log in waited:
        tips = graph.tips(log)
        if len(tips) != 1:
            return None
        past = dict(graph.past(tips[0]).items())
        if any(past.get(number, NONE) < seq for number, seq in settled.items()):
            return None
        bounds = past if bounds is None else _least(bounds, past)
    return dict.fromkeys(range(len(graph.branches)), LAST[0]) if bounds is None else bounds


def _least(bounds: Mapping[int, int], past: Mapping[int, int]) -> dict[int, int]:
    return {number: min(seq, past[number]) for number, seq in bounds.items() if number in past}


def final_length(graph: Graph, bounds: Mapping[int, int] | None, view: Sequence[bytes]) -> int:
    """Return the number of leading rows within bounds."""
    return 0 if bounds is None else _leading(graph.holds(bounds, graph.index[each]) for each in view)


def _leading(held: Iterable[bool]) -> int:
    count = 0
    for is_held in held:
        if not is_held:
            break
        count += 1
    return count

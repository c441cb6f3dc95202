"""The final prefix: rows of the view that no later entry moves, unless a log that is waited for forks."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from strandline.dialects.devicelog.reduce.bounds import Bounds
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
    """Return the effective remove-log entries, with their statements."""
    return [
        (index, statement)
        for index, verdict in membership.verdicts.items()
        if verdict == EFFECTIVE and isinstance(statement := graph.entries[index].statement, RemoveStatement)
    ]


def may_start_anew(graph: Graph, membership: Membership) -> bool:
    """Return whether a key entry that is still missing could change the rank of a void or removed log.

    This is so if an effective grant of the log ranks before it and, for a void log, before all others that remove it.
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


def final_length(graph: Graph, membership: Membership, view: Sequence[bytes]) -> int:
    """Return the number of leading rows of the view that are final: in the past of every log that is waited for.

    No row is final if a void or removed log may start anew, or a log that is waited for has no entry or several tips,
    or its tip has not seen an effective remove-log. Shared parts of the pasts of tips are read once.
    """
    if may_start_anew(graph, membership):
        return 0
    waited = [graph.tips(log) for log in waited_logs(graph, membership)]
    if any(len(tips) != 1 for tips in waited):
        return 0
    if not waited:
        return len(view)
    seen = functools.reduce(Bounds.met, (graph.past(tip).bounds for [tip] in waited))
    removals = [index for index, _ in effective_removals(graph, membership)]
    if not all(graph.holds(seen, index) for index in removals):
        return 0
    return _leading(graph.holds(seen, graph.index[each]) for each in view)


def _leading(held: Iterable[bool]) -> int:
    count = 0
    for is_held in held:
        if not is_held:
            break
        count += 1
    return count

"""Reading parts of a log: the newest entries, entries reachable from others, entries between two bounds."""

from collections.abc import Iterable, Sequence

from strandline.core.errors import UsageError
from strandline.dialects.ipfslog.codec import parse_cid
from strandline.dialects.ipfslog.reduce.dag import Dag


class UnknownEntry(UsageError):  # noqa: N818 - the product's own word
    """A given content address names no entry of the log."""

    def __init__(self, cid: str) -> None:
        super().__init__(
            "UNKNOWN_ENTRY",
            f"The log holds no entry {cid!r}.",
            "Take content addresses from the log's own values, heads or tails.",
        )
        self.cid = cid


def traverse(
    dag: Dag, roots: Iterable[str] | None = None, amount: int | None = None, end: str | None = None
) -> list[bytes]:
    """Return the ids of the walk from `roots` (default: the heads), newest first; `end` is included.

    Raises:
        UnknownEntry: a content address names no entry of the log.
    """
    started = dag.heads if roots is None else [entry_id(dag, root) for root in roots]
    limit = None if amount is None or amount < 0 else amount
    return dag.walk(started, limit, None if end is None else entry_id(dag, end))


def iterate(
    dag: Dag,
    *,
    gt: str | None = None,
    gte: str | None = None,
    lt: Iterable[str] | None = None,
    lte: Iterable[str] | None = None,
    amount: int = -1,
) -> list[bytes]:
    """Return the ids between two bounds, newest first by position.

    `lte`: only entries reachable through `next` from the named ones, which are included; `lt`: without them. `gte`:
    only positions from that of the named entry on; `gt`: only greater ones. `amount`: with a lower bound the entries
    nearest to it, else the newest ones; negative: all.

    Raises:
        UnknownEntry: as `traverse`.
        UsageError: `BOUNDS_CONFLICT`, `gt` with `gte` or `lt` with `lte`.
    """
    if (gt is not None and gte is not None) or (lt is not None and lte is not None):
        raise UsageError(
            "BOUNDS_CONFLICT",
            "An iterator has at most one lower and one upper bound.",
            "Give gt or gte, and lt or lte, but not both of a pair.",
        )
    found: Sequence[bytes] = dag.values
    named = lt if lt is not None else lte
    if named is not None:
        roots = {entry_id(dag, cid) for cid in named}
        kept = dag.reachable(roots) - (roots if lt is not None else set())
        found = [record_id for record_id in found if record_id in kept]
    lower = gt if gt is not None else gte
    if lower is not None:
        least = dag.position[entry_id(dag, lower)] + (1 if gt is not None else 0)
        found = [record_id for record_id in found if dag.position[record_id] >= least]
    if amount >= 0:
        found = found[:amount] if lower is not None else found[max(0, len(found) - amount) :]
    return list(reversed(found))


def last(dag: Dag, amount: int) -> list[bytes]:
    """Return the ids of the `amount` newest entries, oldest first; negative: all."""
    return list(dag.values) if amount < 0 else list(dag.values[max(0, len(dag.values) - amount) :])


def entry_id(dag: Dag, cid: str) -> bytes:
    """Return the id of the entry that a content address names, in any of its forms.

    Raises:
        UnknownEntry: the log has no such entry.
    """
    parsed = parse_cid(cid)
    if isinstance(parsed, str) or parsed.digest not in dag.nodes:
        raise UnknownEntry(cid)
    return parsed.digest

"""The erasable bodies of a group: those of messages that no later entry moves or removes."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from strandline.core.encoding.strict_cbor import encode_cbor
from strandline.core.pruning import (
    DEFAULT_SKIP_WINDOW,
    Member,
    Plan,
    compute_checkpoint_pruning_boundary,
)
from strandline.dialects.devicelog.reduce.state import reduce
from strandline.dialects.devicelog.types import Entry, ForkPolicy

CARRY: Final = encode_cbor({"v": 1})
"""The carry of every group: rows of entries stay, so reducers need nothing else."""


def plan_group(
    entries: Iterable[Entry],
    policy: ForkPolicy = "keep-both",
    *,
    skip_window: int = DEFAULT_SKIP_WINDOW,
    before: int | None = None,
    erased: AbstractSet[bytes] = frozenset(),
) -> Plan:
    """Return which bodies of a group may be erased; `erased` are the ids of bodies erased before.

    The generation of a message is its position. `before` is in milliseconds since 1970, compared with `utc`, which its
    writer claims. The first hold that applies keeps the body:
    - `SIGNED_TEXT`: of a Scuttlebutt message, whose text is what was signed;
    - `KIND_KEPT`: of an entry that is no message, or not effective;
    - `WINDOW`: its position is not below the boundary of the final prefix, or it is not older than `before`.
    """
    every = {entry.record_id: entry for entry in entries}
    state = reduce(every.values(), policy)
    positions = {record_id: position for position, record_id in enumerate(state.view)}
    boundary = compute_checkpoint_pruning_boundary(state.final_length, skip_window)
    members = tuple(
        Member(each, entry.kind, positions.get(each), _hold(entry, positions.get(each), boundary, before))
        for each, entry in sorted(every.items())
        if each not in erased
    )
    return Plan(members, CARRY)


def _hold(entry: Entry, position: int | None, boundary: int, before: int | None) -> str | None:
    if entry.profile != "native":
        return "SIGNED_TEXT"
    if entry.kind != "msg" or position is None:
        return "KIND_KEPT"
    is_young = before is not None and entry.utc >= before
    return "WINDOW" if position >= boundary or is_young else None

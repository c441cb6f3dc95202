"""Which entries of a log may go, and the proof that no answer changes when they do.

An entry of a store with rows decides nothing any more once no row names it. Its skeleton keeps its place in the order,
so heads, tails, counts and the state hash stay.
"""

from collections.abc import Iterable
from typing import Final

from strandline.core.pruning import (
    DEFAULT_SKIP_WINDOW,
    Member,
    Plan,
    Proof,
    compare_rows,
    compute_checkpoint_pruning_boundary,
)
from strandline.dialects.ipfslog.reduce.configuration import LogConfiguration
from strandline.dialects.ipfslog.reduce.dag import Mode, Node
from strandline.dialects.ipfslog.reduce.skeletons import Carry, decode_skeleton, encode_carry, encode_skeleton
from strandline.dialects.ipfslog.reduce.state import LogState, reduce_log
from strandline.dialects.ipfslog.reduce.stores import STORES_WITH_ROWS
from strandline.dialects.ipfslog.types import Entry

KIND: Final = "entry"


def plan_log(
    entries: Iterable[Entry],
    configuration: LogConfiguration,
    skeletons: Iterable[Node] = (),
    skip_window: int = DEFAULT_SKIP_WINDOW,
) -> Plan:
    """Return which stored entries of a log may go, and the carry after that; `skeletons` are of those that went before.

    The generation of an entry is its position. The first hold that applies keeps it:
    - `WALK_MODE`: a clock of the log is wrong, so that its order follows links;
    - `STORE_KEEPS_ALL`: every entry of such a store is part of its value;
    - `KIND_KEPT`: its writer is not on the write list;
    - `HEAD`, `TAIL`: it is one;
    - `DOCUMENT_ROW`: a row of the store names it;
    - `WINDOW`: its position is not below the boundary.
    """
    pruned = {node.record_id: node for node in skeletons}
    stored = {entry.record_id: entry for entry in entries if entry.record_id not in pruned}
    state = reduce_log(stored.values(), configuration, pruned.values())
    reasons = _reasons(state, skip_window)
    positions = {row.record_id: row.position for row in state.view}
    members = []
    for record_id in sorted(stored):
        hold = whole_log_hold(state.mode, configuration.store) or reasons.get(record_id)
        skeleton = encode_skeleton(stored[record_id]) if hold is None else None
        members.append(Member(record_id, KIND, positions.get(record_id), hold, None, skeleton))
    count = len(pruned) + sum(each.hold is None for each in members)
    return Plan(tuple(members), encode_carry(carry_of(configuration, count)))


def prove_log(
    entries: Iterable[Entry],
    configuration: LogConfiguration,
    plan: Plan,
    skeletons: Iterable[Node] = (),
) -> Proof:
    """Reduce a log twice, from all stored entries and from what the plan leaves, and compare states and rows."""
    stored, before = list(entries), list(skeletons)
    gone = {each.record_id for each in plan.prune}
    added = [decode_skeleton(each.skeleton) for each in plan.prune if each.skeleton is not None]
    old = reduce_log(stored, configuration, before)
    kept = [entry for entry in stored if entry.record_id not in gone]
    new = reduce_log(kept, configuration, [*before, *added])
    return Proof(old.state_hash, new.state_hash, compare_rows(_tables(old), _tables(new)))


def whole_log_hold(mode: Mode, store: str) -> str | None:
    """Return what keeps every entry of a log, or None."""
    if mode != "sort":
        return "WALK_MODE"
    return None if store in STORES_WITH_ROWS else "STORE_KEEPS_ALL"


def carry_of(configuration: LogConfiguration, count: int) -> Carry:
    """Return the carry of a log of which so many entries went.

    It has neither blocks of the order nor documents: late entries move them, and reducers have both from what stays.
    """
    return Carry(configuration.store, tuple(sorted(set(configuration.write))), count)


def _reasons(state: LogState, skip_window: int) -> dict[bytes, str]:
    """Return what keeps entries, the first that applies."""
    boundary = compute_checkpoint_pruning_boundary(state.count, skip_window)
    # The first to apply is entered last.
    reasons = {row.record_id: "WINDOW" for row in state.view if row.position >= boundary}
    reasons |= {row.record_id: "DOCUMENT_ROW" for row in state.documents or ()}
    reasons |= {row.record_id: "TAIL" for row in state.tails}
    reasons |= {row.record_id: "HEAD" for row in state.heads}
    return reasons | dict.fromkeys(state.denied, "KIND_KEPT")


def _tables(state: LogState) -> dict[str, dict[str, object]]:
    """Return the rows of the reduced tables of a log by table and key."""
    return {
        "ipfs_log_head": {row.record_id.hex(): row for row in state.heads},
        "ipfs_log_tail": {row.record_id.hex(): row for row in state.tails},
        "ipfs_log_view": {row.record_id.hex(): (row, state.mode) for row in state.view},
        "ipfs_log_document": {row.document_key: row for row in state.documents or ()},
    }

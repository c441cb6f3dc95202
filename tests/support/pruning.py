"""Entries of logs that may go, and the rows that say that they have gone."""

from dataclasses import replace
from decimal import Decimal

from strandline.core import pruning as core
from strandline.core.ids import bucket_of
from strandline.dialects.ipfslog.reduce import (
    STORES_WITH_ROWS,
    Carry,
    encode_carry,
    encode_skeleton,
    forks,
    node_of,
    reduce_log,
)
from support.places import BUCKETS


def skeleton(entry):
    """The node that stands for an entry when it is pruned."""
    return replace(node_of(entry), variant=None)


def prunable(entries, told, skeletons=()):
    """Entries that decide nothing any more: no head, no tail, in no row of a store; of a log that is walked none."""
    held = {each.record_id: each for each in entries}
    state = reduce_log(held.values(), told, skeletons)
    if state.mode != "sort" or told.store not in STORES_WITH_ROWS:
        return []
    named = {row.record_id for rows in (state.heads, state.tails, state.documents) for row in rows}
    return [each for record_id, each in sorted(held.items()) if record_id not in named | {*state.denied}]


def carry(told, gone):
    """What the pruned entries of a log add up to."""
    return Carry(told.store, tuple(sorted(set(told.write))), len(gone))


def snapshot_row(namespace, told, state, gone, number=1):
    """The snapshot that lets `gone` go, as far as reducers read it."""
    return {
        "namespace": namespace,
        "bucket": bucket_of(namespace, BUCKETS),
        "snapshot_id": snapshot_id(namespace, number),
        "origin": "local",
        "dialect": "ipfslog",
        "status": None,
        "sequence": Decimal(number),
        "base": None,
        "state_hash": state.state_hash,
        "members_digest": bytes(32),
        "state": None,
        "carry": encode_carry(carry(told, gone)),
        "prune_digest": bytes(32),
        "record_count": state.record_count,
        "prune_count": len(gone),
        "skip_window": 0,
        "record_version": 0,
        "pruned_version": 0,
        "reducer_version": told.reducer_version,
        "run_id": "test",
        "inputs": [],
    }


def as_taken(row):
    """A row of `snapshot` with the id that covers it."""
    covered = {
        "members": row["members_digest"],
        "prune": row["prune_digest"],
        "sequence": int(row["sequence"]),
    }
    covered |= {name: row[name] for name in ("namespace", "base", "state_hash", "carry")}
    return row | {"snapshot_id": core.snapshot_id(**covered)}


def member_rows(namespace, ids, gone, number=1):
    """The records that the snapshot covers, as rows of `snapshot_member`."""
    place = {
        "namespace": namespace,
        "bucket": bucket_of(namespace, BUCKETS),
        "snapshot_id": snapshot_id(namespace, number),
    }
    lost = {each.record_id for each in gone}
    return [
        place
        | {
            "record_id": each,
            "prune": each in lost,
            "hold": None if each in lost else "WINDOW",
            "generation": None,
        }
        for each in sorted(ids)
    ]


def gc_row(namespace, gone, number=1):
    """The finished collection of `gone`."""
    return {
        "namespace": namespace, "bucket": bucket_of(namespace, BUCKETS), "run_id": "test", "outcome": "DONE",
        "reason": None,
        "snapshot_id": snapshot_id(namespace, number), "gc_number": number, "before_hash": bytes(32),
        "after_hash": bytes(32), "before_rows": 1, "after_rows": 1, "holds": {}, "kinds": {"entry": len(gone)},
        "pruned": len(gone), "bytes": 1, "delete_version": 1, "vacuumed_at": None,
    }  # fmt: skip


def pruned_row(entry, position, number=1):
    """A pruned entry as a row of `pruned_record`."""
    return {
        "namespace": entry.namespace,
        "bucket": bucket_of(entry.namespace, BUCKETS),
        "record_id": entry.record_id,
        "alt_id": None,
        "form": "remove",
        "kind": "entry",
        "skeleton": encode_skeleton(entry),
        "generation": Decimal(position),
        "snapshot_id": snapshot_id(entry.namespace, number),
        "run_id": "test",
        "gc_number": number,
    }


def snapshot_id(namespace, number):
    return (namespace.encode() + bytes(32))[:31] + bytes([number])


def witnesses_of(entries):
    """Ids of entries that a fork shows or counts."""
    return {member for row in forks(entries) for member in row.members}

"""Contexts in plain Python as rows of their tables."""

from dataclasses import asdict
from decimal import Decimal
from uuid import UUID

from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.reduce.contexts import (
    REDUCER,
    authority_chain,
    is_bottom,
    reduce_context,
    row_hash,
)
from strandline.dialects.aura.reduce.contexts.forks import attested_forks, commit_forks, state_inputs
from strandline.dialects.aura.reduce.contexts.pruning import Pruned
from strandline.dialects.aura.reduce.contexts.rows import binding_row
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots
from strandline.dialects.aura.types import DIALECT
from support.places import place


def by_namespace(facts):
    """Facts by namespace, in their order."""
    journals = {}
    for fact in facts:
        journals.setdefault(fact.namespace, []).append(fact)
    return journals


def contexts_rows(journals, operations):
    """The rows of all contexts by table, from the accepted facts by namespace and the accepted operations."""
    chains, of_authority = {}, {}
    for namespace, facts in journals.items():
        if namespace.kind == "authority":
            base = judge_snapshots(namespace, facts).base
            chains[namespace.id] = authority_chain(reduce_authority(namespace, facts, base))
    for op in operations:
        of_authority.setdefault(op.fact.namespace.id, []).append(op)
    inputs = {
        (authority, commitment): data
        for authority, ops in of_authority.items()
        for commitment, data in state_inputs(ops).items()
    }
    found = {}
    for namespace, facts in journals.items():
        if namespace.kind == "context":
            for table, rows in context_rows(namespace, facts, chains, inputs).items():
                found.setdefault(table, []).extend(rows)
    return found


def context_rows(namespace, facts, chains, inputs, before=None):
    """The rows of one context by table; `before` is what was pruned, then forks are left out."""
    went = before or Pruned()
    state, here = reduce_context(namespace, facts, chains, went.carry, went.absorbed), place(namespace)
    forks = [] if before else [*attested_forks(namespace, facts, inputs), *commit_forks(state)]
    depends = [(f"authority:{_uuid(authority)}", tip) for authority, tip in state.tips]
    row = here | {
        "dialect": DIALECT, "record_count": len(facts), "state_hash": state.state_hash, "reducer_version": REDUCER,
        "depends_on": sorted(depends) or None,
    }  # fmt: skip
    return {
        "relational_binding": [here | _binding(each) for each in state.bindings],
        "flow_budget": [here | _flow(each) for each in state.flows],
        "channel_epoch": [here | _channel(each) for each in state.channels],
        "capability": [here | _capability(each) for each in state.capabilities],
        "equivocation": [{**asdict(each), **here, "members": list(each.members)} for each in forks],
        **snapshot_rows(namespace, facts, judge_snapshots(namespace, facts, chains), REDUCER),
        "namespace_state": [row],
    }


def snapshot_rows(namespace, facts, judged, reducer):
    """The rows of the Snapshot facts of a namespace by table; nothing without any."""
    rows = [
        place(namespace) | {
            "snapshot_id": fact.fact_id, "origin": "fact", "dialect": DIALECT, "status": judged.statuses[fact.fact_id],
            "sequence": Decimal(fact.content["sequence"]), "state_hash": fact.content["state_hash"],
            "record_count": judged.covered.get(fact.fact_id, 0), "prune_count": 0, "reducer_version": reducer,
            "inputs": (),
        }
        for fact in facts
        if fact.kind == "Snapshot"
    ]  # fmt: skip
    return {"snapshot": rows} if rows else {}


def _uuid(raw):
    return None if raw is None else str(UUID(bytes=raw))


def _number(value):
    return None if value is None else Decimal(value)


def _binding(each):
    return {
        "row_hash": row_hash(binding_row(each)), "binding_type": each.binding_type,
        "generic_type": each.generic_type, "account_id": _uuid(each.account), "guardian_id": _uuid(each.guardian),
        "data": each.data, "body_id": each.body.body_id, "attestors": sorted(map(_uuid, each.body.on_chain)),
        "consensus_ids": list(each.consensus_ids), "duplicates": each.duplicates,
    }  # fmt: skip


def _flow(each):
    nonce, tip = each.tip or (None, None)
    return {
        "src": _uuid(each.key.src), "dst": _uuid(each.key.dst), "epoch": Decimal(each.key.epoch),
        "spent": Decimal(each.spent), "charges": each.charges, "tip_nonce": _number(nonce), "tip": tip,
        "limit": _number(each.limit), "unbroken": each.is_unbroken, "overdrawn": each.is_overdrawn,
    }  # fmt: skip


def _channel(each):
    pending, checkpoint = each.pending, each.checkpoint
    return {
        "channel": each.channel, "chan_epoch": Decimal(each.epoch), "last_checkpoint_gen": Decimal(each.last),
        "current_gen": Decimal(each.last), "skip_window": each.window, "skip_window_source": each.window_source,
        "pending_new_epoch": pending and Decimal(pending.new_epoch), "pending_bump_id": pending and pending.bump_id,
        "pending_reason": pending and pending.reason, "checkpoint_body": checkpoint and checkpoint.body_id,
        "ck_commitment": checkpoint and checkpoint.content["ck_commitment"],
        "checkpoint_conflict": each.is_checkpoint_disputed, "commit_conflict": bool(each.forks),
        "dormant_commits": each.dormant, "unproven_commits": each.unproven,
    }  # fmt: skip


def _capability(each):
    cap = each.cap
    names = sorted(cap.limits, key=str.encode)
    return {
        "subject": _uuid(each.subject),
        "actions": None if cap.actions is None else sorted(cap.actions, key=str.encode),
        "limits": {name: Decimal(cap.limits[name]) for name in names}, "epoch_min": _number(cap.epoch_min),
        "epoch_max": _number(cap.epoch_max), "bottom": is_bottom(cap), "refinements": each.refinements,
    }  # fmt: skip

"""What the facts of a journal are judged with: the states that they name, and the history of their namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa
from pyspark.sql import functions as F

from strandline.core.ids import bucket_of
from strandline.dialect_api.ports import Jobs
from strandline.dialects.aura import kernels
from strandline.dialects.aura.codec import stored_fact
from strandline.dialects.aura.reduce import Journal, parse_state
from strandline.dialects.aura.spark import snapshots
from strandline.dialects.aura.spark.histories import relied_states
from strandline.dialects.aura.spark.known_states import GENESIS, known_states
from strandline.dialects.aura.spark.reduction import authority_states
from strandline.dialects.aura.spark.retained_operations import (
    is_operation,
    pruned_operations,
    with_remains,
)
from strandline.dialects.aura.spark.tables import FACTS
from strandline.dialects.aura.types import Fact, Namespace
from strandline.dialects.aura.verify import KnownState, PrunedOps, State
from strandline.effects.errors import AuthorityUnknown, CarryDamaged
from strandline.frames.namespaces import only_namespaces
from strandline.tables.store import TableStore

_NAMED = pa.schema([pa.field("authority", pa.string()), pa.field("commitment", pa.binary())])
_BESIDE = ("namespace", "fact_cbor", *kernels.DERIVED, *kernels.REMAINS)


def named_states(
    store: TableStore, version: int, facts: Iterable[Fact], jobs: Jobs
) -> Mapping[tuple[bytes, bytes], KnownState]:
    """Return the states that facts name and that accepted or pruned operations made, as `ingest` finds them."""
    named = {tuple(each.values()) for fact in facts for each in kernels.named_states(fact)}
    if not named:
        return {}
    rows = [dict(zip(_NAMED.names, each, strict=True)) for each in sorted(named)]
    buckets = {bucket_of(row["authority"], store.buckets) for row in rows}
    stored = store.read_version(FACTS, version)
    pruned = pruned_operations(store, jobs)
    states = known_states(None, stored, pruned, tuple(sorted(buckets)))
    wanted = store.spark.createDataFrame(pa.Table.from_pylist(rows, schema=_NAMED))
    found = states.join(wanted, _NAMED.names, "left_semi").collect()
    return {
        (kernels.authority_of(row["authority"]), bytes(row["commitment"])): KnownState(
            int(row["epoch"]), bytes(row["group_key"])
        )
        for row in found
    }


def current_state(store: TableStore, authority: Namespace, version: int, jobs: Jobs) -> State:
    """Return the state of an authority after its facts at a version of their table, as `reduce` makes it.

    Its Snapshot facts are judged here: one that `reduce` has not judged yet counts.
    Raises: AuthorityUnknown; CarryDamaged if what stands for its pruned operations cannot be read.
    """
    facts = only_namespaces(store.read_version(FACTS, version), [authority.text], store.buckets)
    pruned = pruned_operations(store, jobs)
    if pruned is not None:
        pruned = pruned.where(F.col("namespace") == authority.text)
        facts = pruned.kept(facts)
    in_force = None
    if jobs.has_rows(facts.where(F.col("kind") == "Snapshot")):
        judged = snapshots.judged_authorities(facts, relied_states(store, jobs), pruned, store, jobs)
        in_force = snapshots.in_force(snapshots.statuses(judged))
    rows = jobs.few(authority_states(facts, in_force, pruned).select("state_cbor", "is_inconsistent"), 1)
    if not rows:
        raise AuthorityUnknown(authority)
    if rows[0]["is_inconsistent"]:
        raise CarryDamaged(authority)
    return parse_state(bytes(rows[0]["state_cbor"]))


def own_history(store: TableStore, version: int, delta: Journal) -> list[Fact]:
    """Return the accepted genesis of a context; the accepted operations of an authority, if the journal has some."""
    kind = is_operation() if _has_operations(delta) else F.col("variant") == GENESIS
    rows = only_namespaces(store.read_version(FACTS, version), [delta.namespace.text], store.buckets)
    found = rows.where(kind).select("fact_cbor").collect()
    return [stored_fact(bytes(row["fact_cbor"])) for row in found]


def pruned_history(
    store: TableStore, version: int, delta: Journal, jobs: Jobs
) -> Mapping[Namespace, PrunedOps]:
    """Return what `gc` pruned of an authority, if the journal has operations of it."""
    if not _has_operations(delta):
        return {}
    pruned = pruned_operations(store, jobs)
    if pruned is None:
        return {}
    rows = only_namespaces(store.read_version(FACTS, version), [delta.namespace.text], store.buckets)
    group = with_remains(rows.where(is_operation()), pruned, _BESIDE).toArrow().to_pylist()
    found = kernels.pruned_of(group)
    return {} if found is None else {delta.namespace: found}


def _has_operations(delta: Journal) -> bool:
    return any(fact.attested is not None for fact in delta.facts)

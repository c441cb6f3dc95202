"""The bodies that count for given states of the members of contexts, and the reduced rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.aura.spark.contexts import (
    bindings,
    bodies,
    capabilities,
    channels,
    flows,
    transitions,
)
from strandline.dialects.aura.spark.tables import BINDINGS, CAPABILITIES, CHANNELS, FLOWS
from strandline.frames.union import union


@dataclass(frozen=True, slots=True)
class View:
    """The bodies that count for some states of the members.

    `bodies.granted`, `bindings.proven_pairs`, `channels.commits` and `channels.channel_epochs`.
    """

    granted: DataFrame
    proven: DataFrame
    committed: DataFrame
    channels: DataFrame


def view(
    facts: DataFrame, chains: DataFrame, members: DataFrame, jobs: Jobs, *, has_transitions: bool = False
) -> View:
    """Return the bodies that count for these states; `has_transitions`: AMP transitions move channels.

    Reads:  facts: rows of `aura_fact` that count; chains: authority, commitment; members: `bodies.context_members`.
    """
    granted = jobs.checkpoint(bodies.granted(facts, chains, members), "bodies")
    if not jobs.has_rows(granted):
        # Spark plans no job for a frame that is known to be empty, so it is not cached.
        return _view(granted.limit(0), lambda frame, _: frame, has_transitions=has_transitions)
    return _view(granted, jobs.checkpoint, has_transitions=has_transitions)


def _view(granted: DataFrame, kept: Callable[[DataFrame, str], DataFrame], *, has_transitions: bool) -> View:
    proven = kept(bindings.proven_pairs(granted), "consensus")
    committed = kept(channels.commits(granted, proven), "commits")
    moves = kept(transitions.moves(granted, proven), "transitions") if has_transitions else None
    return View(
        granted, proven, committed, kept(channels.channel_epochs(granted, committed, moves), CHANNELS)
    )


def granted_rows(seen: View, jobs: Jobs) -> dict[str, DataFrame]:
    """Return the rows of the tables that follow from attestations on chain, by table."""
    return {
        BINDINGS: jobs.checkpoint(bindings.bindings(seen.granted, seen.proven), BINDINGS),
        CHANNELS: seen.channels,
    }


def flow_rows(facts: DataFrame, carried: DataFrame | None, jobs: Jobs) -> DataFrame:
    """Return the rows of `flow_budget`.  Reads:  carried: `flows.sums` of pruned charges, or None."""
    return jobs.checkpoint(flows.flow_budgets(facts, carried), FLOWS)


def capability_rows(facts: DataFrame, members: DataFrame, jobs: Jobs) -> DataFrame:
    """Return the rows of `capability`."""
    return jobs.checkpoint(capabilities.capabilities(facts, members), CAPABILITIES)


def reduced_rows(
    seen: View, facts: DataFrame, charges: DataFrame, carried: DataFrame | None, members: DataFrame, jobs: Jobs
) -> dict[str, DataFrame]:  # fmt: skip
    """Return the rows of the reduced tables of contexts by table.

    Reads:  facts: all but charges; charges: as `flows.charges` gives them; carried: `flows.sums` of pruned charges, or
            None; the others as in `view`.
    """
    return {
        **granted_rows(seen, jobs),
        FLOWS: jobs.checkpoint(flows.budgets_of(charges, facts, carried), FLOWS),
        CAPABILITIES: capability_rows(facts, members, jobs),
    }


HASHED: Final[Mapping[str, Callable[[DataFrame], DataFrame]]] = {
    BINDINGS: bindings.binding_hashes,
    CHANNELS: channels.channel_hashes,
    FLOWS: flows.flow_hashes,
    CAPABILITIES: capabilities.capability_hashes,
}
"""The hashes of the canonical rows of each table.  Gives: namespace, row_hash.  Rows: one per row."""


def stored_rows(tables: Tables) -> dict[str, DataFrame]:
    """Return the stored rows of the tables of HASHED; of these only FLOWS if the others have no row."""
    names = (table for table in HASHED if table == FLOWS or tables.stored_bytes(table))
    return {table: tables.read(table) for table in names}


def hashes(*rows: Mapping[str, DataFrame]) -> DataFrame:
    """Return the hashes of canonical rows of these tables, as HASHED."""
    each = (hashed(part[table]) for part in rows for table, hashed in HASHED.items() if table in part)
    return union(each)

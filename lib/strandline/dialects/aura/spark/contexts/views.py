"""What counts in contexts by the states that their members are in, and the rows that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs
from strandline.dialects.aura.spark.contexts import bindings, bodies, capabilities, channels, flows
from strandline.dialects.aura.spark.tables import BINDINGS, CAPABILITIES, CHANNELS, FLOWS


@dataclass(frozen=True, slots=True)
class View:
    """Contexts by some states of their members.

    `bodies.granted`, `bindings.proven_pairs`, `channels.commits` and `channels.channel_epochs`.
    """

    granted: DataFrame
    proven: DataFrame
    committed: DataFrame
    channels: DataFrame


def view(facts: DataFrame, chains: DataFrame, members: DataFrame, jobs: Jobs) -> View:
    """Return what counts by these states.

    Reads:  facts: rows of `aura_fact` that count; chains: authority, commitment; members: `bodies.context_members`.
    """
    granted = jobs.checkpoint(bodies.granted(facts, chains, members), "bodies")
    proven = jobs.checkpoint(bindings.proven_pairs(granted), "consensus")
    committed = jobs.checkpoint(channels.commits(granted, proven), "commits")
    return View(
        granted, proven, committed, jobs.checkpoint(channels.channel_epochs(granted, committed), CHANNELS)
    )


def reduced_rows(
    seen: View, facts: DataFrame, carried: DataFrame | None, members: DataFrame, jobs: Jobs
) -> dict[str, DataFrame]:
    """Return the rows of the reduced tables of contexts by table.

    Reads:  carried: `flows.sums` of pruned charges, or None; the others as in `view`.
    """
    return {
        BINDINGS: jobs.checkpoint(bindings.bindings(seen.granted, seen.proven), BINDINGS),
        FLOWS: jobs.checkpoint(flows.flow_budgets(facts, carried), FLOWS),
        CHANNELS: seen.channels,
        CAPABILITIES: jobs.checkpoint(capabilities.capabilities(facts, members), CAPABILITIES),
    }


def row_hashes(rows: Mapping[str, DataFrame]) -> DataFrame:
    """Return the hashes of canonical rows.  Reads: `reduced_rows`.  Gives: namespace, row_hash.  Rows: one per row."""
    return (
        rows[BINDINGS].select("namespace", "row_hash")
        .unionByName(flows.flow_hashes(rows[FLOWS]))
        .unionByName(channels.channel_hashes(rows[CHANNELS]))
        .unionByName(capabilities.capability_hashes(rows[CAPABILITIES]))
    )  # fmt: skip

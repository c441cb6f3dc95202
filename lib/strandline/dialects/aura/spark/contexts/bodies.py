"""Bodies of contexts in Spark: their members as columns, and the attestors of each."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.transitions import VARIANTS
from strandline.dialects.aura.spark.tables import HOME

BODY: Final = ("namespace", "bucket", "body_id")
GRANTS: Final = (
    "GuardianBinding", "RecoveryGrant", "Consensus", "AmpChannelCheckpoint", "AmpProposedChannelEpochBump",
    "AmpCommittedChannelEpochBump", "AmpChannelPolicy", "Generic", *VARIANTS,
)  # fmt: skip
"""Variants that count by attestations on chain."""

_U64: Final = "DECIMAL(20,0)"
_FLOW: Final = f"src STRING, dst STRING, epoch {_U64}"
_AMP: Final = "channel STRING"
_BUMP: Final = f"{_AMP}, parent_epoch {_U64}"
_PARTIES: Final = "account_id STRING, guardian_id STRING"
MEMBERS: Final = {
    "ContextGenesis": "members ARRAY<STRING>",
    "GuardianBinding": f"{_PARTIES}, binding_hash STRING",
    "RecoveryGrant": f"{_PARTIES}, grant_hash STRING",
    "Consensus": "consensus_id STRING, operation_hash STRING, threshold_met BOOLEAN, participant_count INT",
    "AmpChannelCheckpoint": (
        f"{_AMP}, chan_epoch {_U64}, base_gen {_U64}, ck_commitment STRING, skip_window_override BIGINT"
    ),
    "AmpProposedChannelEpochBump": f"{_BUMP}, bump_id STRING, reason STRING",
    "AmpCommittedChannelEpochBump": f"{_BUMP}, chosen_bump_id STRING, consensus_id STRING",
    "AmpChannelPolicy": f"{_AMP}, skip_window BIGINT",
    "FlowLimit": f"{_FLOW}, `limit` {_U64}",
    "FlowCharge": f"{_FLOW}, cost BIGINT, nonce {_U64}",
    "Capability": (
        f"subject STRING, actions ARRAY<STRING>, limits MAP<STRING, {_U64}>, epoch_min {_U64}, epoch_max {_U64}"
    ),
    "Generic": "binding_type STRING, binding_data STRING",
}
"""The members of each variant that a state needs, as SQL."""

_DIGESTS: Final = (
    "binding_hash", "grant_hash", "consensus_id", "operation_hash", "channel", "ck_commitment", "bump_id",
    "chosen_bump_id", "binding_data",
)  # fmt: skip


def parsed(rows: DataFrame, variant: str) -> DataFrame:
    """Keep the rows of a variant and give its members as columns; digests are bytes.

    Reads:  variant, content_json.  Gives: the columns of `rows` but these two, and MEMBERS.  Rows: at most one per row.
    """
    shape = f"Relational STRUCT<{variant}: STRUCT<{MEMBERS[variant]}>>"
    content = F.from_json("content_json", shape)["Relational"][variant]
    kept = [name for name in rows.columns if name not in ("variant", "content_json")]
    found = rows.where(F.col("variant") == variant).withColumn("content", content).select(*kept, "content.*")
    digests = [name for name in found.columns if name in _DIGESTS and name not in kept]
    return found.withColumns({name: F.unhex(name) for name in digests})


def context_members(facts: DataFrame) -> DataFrame:
    """Return the members of contexts.  Gives: namespace, bucket, members (uuids), quorum.  Rows: one per genesis."""
    genesis = parsed(facts.select(*HOME, "variant", "content_json"), "ContextGenesis")
    return genesis.withColumn("quorum", F.floor(2 * F.array_size("members") / 3).cast("int") + 1)


def granted(facts: DataFrame, chains: DataFrame, members: DataFrame) -> DataFrame:
    """Return the bodies of GRANTS with an attestation on chain, of contexts with a genesis.

    Reads:  facts: rows of `aura_fact`; chains: authority, commitment; members: `context_members`.
    Gives:  BODY, fact_id (the least of its facts), variant, content_json, attestors (on chain, ascending), quorum.
    Rows:   one per body.
    """
    grants = facts.where(F.col("variant").isin(*GRANTS))
    attested = grants.select(*BODY, F.explode("attest").alias("by")).select(
        *BODY, "by.authority", "by.commitment"
    )
    on_chain = attested.join(chains, ["authority", "commitment"], "left_semi")
    attestors = on_chain.groupBy(*BODY).agg(F.sort_array(F.collect_set("authority")).alias("attestors"))
    bodies = grants.groupBy(*BODY).agg(
        F.min("record_id").alias("fact_id"), F.first("variant").alias("variant"),
        F.first("content_json").alias("content_json"),
    )  # fmt: skip
    quorums = members.select("namespace", "quorum")
    return bodies.join(attestors, list(BODY)).join(quorums, "namespace")


def is_attested_by(*names: str) -> Column:
    """Return whether the fact is attested by one of the parties in these columns, at any known state."""
    return F.exists("attest", lambda each: each["authority"].isin(*(F.col(name) for name in names)))

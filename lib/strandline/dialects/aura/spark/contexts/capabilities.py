"""Capabilities of the members of contexts in Spark: the meet of all refinements that count."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.spark.contexts.bodies import BODY, parsed
from strandline.dialects.aura.spark.contexts.encoding import (
    id_bytes,
    numbers_by_name,
    optional,
    row_hash,
    texts,
)

_KEY: Final = ("namespace", "bucket", "subject")


def capabilities(facts: DataFrame, members: DataFrame) -> DataFrame:
    """Return the capabilities in the form of `capability`.

    Reads:  facts: rows of `aura_fact`; members: `context_members`.  Gives: the columns of `capability`.
    Rows:   one per subject with a refinement that counts.
    """
    met = _met(facts, members)
    shared = met.groupBy(*_KEY).agg(
        F.max("epoch_min").alias("epoch_min"), F.min("epoch_max").alias("epoch_max"),
        F.count("actions").alias("lists"), F.count(F.lit(1)).cast("int").alias("refinements"),
    )  # fmt: skip
    named = met.select(*_KEY, F.explode("actions").alias("action")).groupBy(*_KEY, "action")
    counted = named.agg(F.count(F.lit(1)).alias("lists")).join(
        shared.select(*_KEY, "lists"), [*_KEY, "lists"]
    )
    left = counted.groupBy(*_KEY).agg(F.sort_array(F.collect_list("action")).alias("left"))
    limited = met.select(*_KEY, F.explode("limits").alias("name", "limit")).groupBy(*_KEY, "name")
    least = limited.agg(F.min("limit").alias("limit"))
    entries = least.groupBy(*_KEY).agg(
        F.sort_array(F.collect_list(F.struct("name", "limit"))).alias("entries")
    )
    found = shared.join(left, list(_KEY), "left").join(entries, list(_KEY), "left")
    none, nothing = (
        F.array().cast("array<string>"),
        F.array().cast("array<struct<name:string,limit:decimal(20,0)>>"),
    )
    actions = F.when(F.col("lists") > 0, F.coalesce("left", none))
    is_bottom = F.coalesce(F.size("actions") == 0, F.lit(False)) | F.coalesce(
        F.col("epoch_min") > F.col("epoch_max"), F.lit(False)
    )
    return found.withColumn("actions", actions).select(
        *_KEY, "actions", F.map_from_entries(F.coalesce("entries", nothing)).alias("limits"), "epoch_min", "epoch_max",
        is_bottom.alias("bottom"), "refinements",
    )  # fmt: skip


def capability_hashes(found: DataFrame) -> DataFrame:
    """Return the hashes of canonical rows.  Reads: `capabilities`.  Gives: namespace, row_hash.  Rows: one per row."""
    actions = F.when(F.col("actions").isNull(), F.lit(b"\x00")).otherwise(
        F.concat(F.lit(b"\x01"), texts(F.col("actions")))
    )
    entries = F.transform(
        F.map_entries("limits"),
        lambda each: F.struct(each["key"].alias("name"), each["value"].alias("limit")),
    )
    row = F.concat(
        F.lit(b"\x07"), id_bytes(F.col("subject")), actions, numbers_by_name(entries), optional(F.col("epoch_min")),
        optional(F.col("epoch_max")),
    )  # fmt: skip
    return found.select("namespace", row_hash(row).alias("row_hash"))


def _met(facts: DataFrame, members: DataFrame) -> DataFrame:
    """Return the refinements that the subject attests, or a quorum of the members, at any known state.

    Gives:  _KEY, actions, limits, epoch_min, epoch_max.  Rows: one per body.
    """
    given = facts.where(F.col("variant") == "Capability")
    attestors = given.select(*BODY, F.explode("attest.authority").alias("authority")).groupBy(*BODY)
    by = attestors.agg(F.collect_set("authority").alias("attestors"))
    bodies = given.groupBy(*BODY).agg(
        F.first("variant").alias("variant"), F.first("content_json").alias("content_json")
    )
    each = (
        parsed(bodies, "Capability")
        .join(by, list(BODY))
        .join(members.select("namespace", "quorum"), "namespace")
    )
    is_met = F.array_contains("attestors", F.col("subject")) | (F.size("attestors") >= F.col("quorum"))
    return each.where(is_met).select(*_KEY, "actions", "limits", "epoch_min", "epoch_max")

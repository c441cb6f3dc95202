"""Compares statements of manifests about files and namespaces with the input; returns the disagreements."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.frames.sets import set_hashes

MOST_SHOWN = 64
"""Maximum number of files, and of namespaces, of a manifest whose disagreements are listed, in order."""

DISAGREEMENTS = ("manifest_no", "file_no", "namespace", "disagreeing", "found")
"""manifest_no INT; file_no BIGINT or namespace STRING, the other one null; disagreeing BIGINT: number of disagreeing
files or namespaces of the manifest; found ARRAY<STRUCT<field, expected, actual: STRING>>, null after MOST_SHOWN."""


def disagreeing_files(stated: DataFrame, contents: DataFrame, per_file: DataFrame) -> DataFrame:
    """Keep the files that disagree with a manifest.

    Reads:  stated: manifest_no, file_no, records, bytes, sha256 (hex); contents: file_no, bytes, sha256, damage;
            per_file: file_no, records (files without records can be missing).
    Gives:  DISAGREEMENTS.
    Rows:   at most one per row of `stated`. `contents` and `per_file` have at most one per file.
    """
    actual = contents.select(
        "file_no", F.col("bytes").alias("actual_bytes"), F.col("sha256").alias("actual_sha256"), "damage"
    )
    read = per_file.select("file_no", F.col("records").alias("read_records"))
    joined = stated.join(actual, "file_no").join(read, "file_no", "left")
    records = F.coalesce("read_records", F.lit(0))
    found = _found(
        _differs("content", F.lit("whole"), F.coalesce("damage", F.lit("whole"))),
        _differs("bytes", F.col("bytes"), F.col("actual_bytes")),
        _differs("records", F.col("records"), records),
        _differs("sha256", F.col("sha256"), F.col("actual_sha256")),
    )
    disagreeing = joined.withColumn("found", found).where(F.size("found") > 0)
    return _ranked(disagreeing.withColumn("namespace", F.lit(None).cast("string")), "file_no").select(
        *DISAGREEMENTS
    )


def disagreeing_namespaces(stated: DataFrame, claims: DataFrame, named: DataFrame) -> DataFrame:
    """Keep the namespaces whose records in the files of a manifest disagree with it.

    Reads:  stated: manifest_no, namespace, records, set_hash, heads, heads_hash, least_head (hex or null);
            claims: file_no, namespace, record_id, name, follows; named: manifest_no, file_no.
    Gives:  DISAGREEMENTS.
    Rows:   at most MOST_SHOWN per manifest, the first by name. A namespace that is only stated or only in the files
            disagrees, too.
    """
    actual = _in_files(claims.join(F.broadcast(named), "file_no"))
    joined = stated.join(actual, ["manifest_no", "namespace"], "full")
    heads, actual_heads = _heads("least_head", "heads"), _heads("actual_least_head", "actual_heads")
    same_heads = F.col("heads_hash").eqNullSafe(F.col("actual_heads_hash"))
    found = _found(
        _differs("records", F.coalesce("records", F.lit(0)), F.coalesce("actual_records", F.lit(0))),
        _differs("set_hash", F.col("set_hash"), F.col("actual_set_hash")),
        F.when(~same_heads, _disagreement("heads", heads, actual_heads)),
    )
    # A statement of no records and no heads equals no statement.
    is_nothing = (F.coalesce("records", F.lit(0)) == 0) & F.col("actual_records").isNull()
    disagreeing = joined.where(~(is_nothing & (F.coalesce("heads", F.lit(0)) == 0)))
    disagreeing = disagreeing.withColumn("found", found).where(F.size("found") > 0)
    ranked = _ranked(disagreeing.withColumn("file_no", F.lit(None).cast("bigint")), "namespace")
    return ranked.where(F.col("found").isNotNull()).select(*DISAGREEMENTS)


def _ranked(disagreeing: DataFrame, order: str) -> DataFrame:
    of_manifest = Window.partitionBy("manifest_no")
    rank = F.row_number().over(of_manifest.orderBy(order))
    ranked = disagreeing.withColumn("disagreeing", F.count(F.lit(1)).over(of_manifest)).withColumn(
        "rank", rank
    )
    return ranked.withColumn("found", F.when(F.col("rank") <= MOST_SHOWN, F.col("found")))


def _in_files(claims: DataFrame) -> DataFrame:
    """Return number, set_hash and heads of the records of each namespace in the files of each manifest.

    Reads:  manifest_no, namespace, record_id, name, follows.
    Gives:  manifest_no, namespace, actual_records, actual_set_hash, actual_heads, actual_heads_hash, actual_least_head.
    Rows:   one per (manifest_no, namespace).
    """
    place = ["manifest_no", "namespace"]
    followed = claims.select(
        *place, F.explode("follows").alias("name"), F.col("record_id").alias("by")
    ).alias("f")
    all_claims = claims.select(*place, "name", "record_id").alias("c")
    same = [F.col(f"c.{name}") == F.col(f"f.{name}") for name in (*place, "name")]
    heads = all_claims.join(followed, [*same, F.col("c.record_id") != F.col("f.by")], "left_anti")
    values = _members(all_claims, "ids").unionByName(_members(heads, "heads"))
    part, number, namespace = (F.split("namespace", r"\|", 3)[at] for at in range(3))
    hashed = set_hashes(values).select(
        part.alias("part"),
        number.cast("int").alias("manifest_no"),
        namespace.alias("namespace"),
        "set_hash",
        "size",
    )
    is_ids, is_heads = F.col("part") == "ids", F.col("part") == "heads"
    sets = hashed.groupBy(*place).agg(
        F.max(F.when(is_ids, F.col("size"))).alias("actual_records"),
        F.max(F.when(is_ids, F.lower(F.hex("set_hash")))).alias("actual_set_hash"),
        F.max(F.when(is_heads, F.col("size"))).alias("actual_heads"),
        F.max(F.when(is_heads, F.lower(F.hex("set_hash")))).alias("actual_heads_hash"),
    )
    least = heads.groupBy(*place).agg(F.min(F.lower(F.hex("record_id"))).alias("actual_least_head"))
    return sets.join(least, place, "left")


def _members(claims: DataFrame, part: str) -> DataFrame:
    """Return the record ids of claims as values of one named set per manifest and namespace."""
    name = F.concat_ws("|", F.lit(part), F.col("manifest_no").cast("string"), F.col("namespace"))
    return claims.select(name.alias("namespace"), F.col("record_id").alias("value"))


def _heads(least: str, count: str) -> Column:
    more = F.col(count) - 1
    several = F.concat(F.col(least), F.lit(" and "), more.cast("string"), F.lit(" more"))
    return F.when(F.col(least).isNull(), F.lit("none")).when(more > 0, several).otherwise(F.col(least))


def _differs(field: str, expected: Column, actual: Column) -> Column:
    return F.when(~expected.eqNullSafe(actual), _disagreement(field, expected, actual))


def _disagreement(field: str, expected: Column, actual: Column) -> Column:
    return F.struct(
        F.lit(field).alias("field"),
        expected.cast("string").alias("expected"),
        actual.cast("string").alias("actual"),
    )


def _found(*each: Column) -> Column:
    return F.filter(F.array(*each), lambda found: found.isNotNull())

"""Finds the namespaces of a lake that an operator names.

A name is the namespace's id in its dialect, or percent-encoded with its kind, or a prefix of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.errors import UsageError
from strandline.core.ids import namespace_prefixes, namespaces_named, only_one, unknown_namespace
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.ports import LakeSnapshot
from strandline.frames.namespaces import begins_with, first_namespaces, only_namespaces
from strandline.pipelines.spark_jobs import SparkJobs

SIMILAR: Final = 3
"""A name is similar to another one if at most one in this many characters differs."""


def resolve(
    given: Sequence[str], dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> tuple[str, tuple[str, ...]]:
    """Return the dialect and the namespaces that `given` names, each once; all of them have records.

    Raises:
        UsageError: NAMESPACE_UNKNOWN (with the most similar one), NAMESPACE_AMBIGUOUS, DIALECTS_DIFFER.
    """
    asked = {name: namespaces_named(name) for name in given}
    every = tuple(dict.fromkeys(each for names in asked.values() for each in names))
    with_records = _with_records(every, dialects, snapshot, jobs) if every else {}
    found: dict[str, str] = {}
    for name, names in asked.items():
        fits = {each: with_records[each] for each in names if each in with_records} or _with_prefix(
            name, dialects, snapshot, jobs
        )
        one = only_one(name, tuple(fits))
        if one is None:
            raise _unknown(name, names, dialects, snapshot, jobs)
        found[one] = fits[one]
    first, *others = found
    for other in others:
        if found[other] != found[first]:
            raise UsageError(
                "DIALECTS_DIFFER",
                f"{first} is of the dialect {found[first]}, {other} of {found[other]}; a file holds only one dialect",
                "export each dialect to its own file",
            )
    return found[first], tuple(found)


def _with_records(
    names: Sequence[str], dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> dict[str, str]:
    """Return those of the namespaces that have records, each with its dialect."""
    parts = [
        only_namespaces(snapshot.read(dialect.info.record_table).select("namespace", "bucket"), names, snapshot.buckets)
        .select("namespace", F.lit(name).alias("dialect")).distinct()
        for name, dialect in dialects.items()
    ]  # fmt: skip
    rows = jobs.row(_union(parts).agg(F.collect_list(F.struct("namespace", "dialect")).alias("snapshot")))[
        "snapshot"
    ]
    return {row["namespace"]: row["dialect"] for row in rows}


def _with_prefix(
    given: str, dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> dict[str, str]:
    """Return the first namespaces with records that start with `given`, each with its dialect."""
    prefixes = namespace_prefixes(given)
    if not prefixes:
        return {}
    found_names = _union(
        [
            begins_with(snapshot.read(dialect.info.record_table), prefixes).select(
                "namespace", F.lit(name).alias("dialect")
            )
            for name, dialect in dialects.items()
        ]
    )
    rows = jobs.row(
        first_namespaces(found_names).agg(
            F.collect_list(F.struct("namespace", "dialect")).alias("found_names")
        )
    )
    return {row["namespace"]: row["dialect"] for row in sorted(rows["found_names"])}


def _unknown(
    given: str, names: Sequence[str], dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> UsageError:
    """Return the error of an unknown name, with the nearest known one: few characters differ, or it is a prefix."""
    best = None
    if names:
        every = _union(
            [snapshot.read(each.info.record_table).select("namespace") for each in dialects.values()]
        )
        distances = [
            F.when(F.startswith(F.col("namespace"), F.lit(name)), 0).otherwise(
                F.levenshtein("namespace", F.lit(name))
            )
            for name in names
        ]
        nearest = F.min(F.struct(F.least(*distances, F.lit(2**31 - 1)).alias("distance"), "namespace"))
        best = jobs.row(every.distinct().agg(nearest.alias("best")))["best"]
    if best is None or best["distance"] * SIMILAR > len(given):
        return unknown_namespace(given)
    return unknown_namespace(given, best["namespace"])


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)

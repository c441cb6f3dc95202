"""Which namespaces of a lake an operator means.

A name is one as its dialect spells it, or percent-encoded with its kind, or the first part of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.errors import UsageError
from strandline.core.ids import namespace_prefixes, namespaces_named, only_one
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.ports import LakeSnapshot
from strandline.frames.namespaces import begins_with, first_namespaces, only_namespaces
from strandline.pipelines.spark_jobs import SparkJobs

LIKE: Final = 3
"""A name is like another one if at most one of so many signs differs."""


def resolve(
    given: Sequence[str], dialects: Mapping[str, Dialect], held: LakeSnapshot, jobs: SparkJobs
) -> tuple[str, tuple[str, ...]]:
    """Return the dialect and the namespaces that `given` names, each once; records of all of them are held.

    Raises:
        UsageError: NAMESPACE_UNKNOWN (with the one it is most like), NAMESPACE_AMBIGUOUS, DIALECTS_DIFFER.
    """
    asked = {name: namespaces_named(name) for name in given}
    every = tuple(dict.fromkeys(each for names in asked.values() for each in names))
    held_by = _held_by(every, dialects, held, jobs) if every else {}
    found: dict[str, str] = {}
    for name, names in asked.items():
        fits = {each: held_by[each] for each in names if each in held_by} or _begun_by(
            name, dialects, held, jobs
        )
        one = only_one(name, tuple(fits))
        if one is None:
            raise _unknown(name, names, dialects, held, jobs)
        found[one] = fits[one]
    first, *others = found
    for other in others:
        if found[other] != found[first]:
            raise UsageError(
                "DIALECTS_DIFFER",
                f"{first} is of {found[first]} and {other} of {found[other]}, and a file holds one dialect",
                "export them in two calls, each to a file of its own",
            )
    return found[first], tuple(found)


def _held_by(
    names: Sequence[str], dialects: Mapping[str, Dialect], held: LakeSnapshot, jobs: SparkJobs
) -> dict[str, str]:
    """Return, of these namespaces, those with records, each with its dialect."""
    parts = [
        only_namespaces(held.read(dialect.info.record_table).select("namespace", "bucket"), names, held.buckets)
        .select("namespace", F.lit(name).alias("dialect")).distinct()
        for name, dialect in dialects.items()
    ]  # fmt: skip
    rows = jobs.row(_union(parts).agg(F.collect_list(F.struct("namespace", "dialect")).alias("held")))["held"]
    return {row["namespace"]: row["dialect"] for row in rows}


def _begun_by(
    given: str, dialects: Mapping[str, Dialect], held: LakeSnapshot, jobs: SparkJobs
) -> dict[str, str]:
    """Return the first namespaces with records that `given` is the first part of, each with its dialect."""
    prefixes = namespace_prefixes(given)
    if not prefixes:
        return {}
    begun = _union(
        [
            begins_with(held.read(dialect.info.record_table), prefixes).select(
                "namespace", F.lit(name).alias("dialect")
            )
            for name, dialect in dialects.items()
        ]
    )
    rows = jobs.row(
        first_namespaces(begun).agg(F.collect_list(F.struct("namespace", "dialect")).alias("begun"))
    )
    return {row["namespace"]: row["dialect"] for row in sorted(rows["begun"])}


def _unknown(
    given: str, names: Sequence[str], dialects: Mapping[str, Dialect], held: LakeSnapshot, jobs: SparkJobs
) -> UsageError:
    """Return the error of a name that nothing has, with the nearest right one: few signs differ, or it is a kind."""
    best = None
    if names:
        every = _union([held.read(each.info.record_table).select("namespace") for each in dialects.values()])
        distances = [
            F.when(F.startswith(F.col("namespace"), F.lit(name)), 0).otherwise(
                F.levenshtein("namespace", F.lit(name))
            )
            for name in names
        ]
        nearest = F.min(F.struct(F.least(*distances, F.lit(2**31 - 1)).alias("distance"), "namespace"))
        best = jobs.row(every.distinct().agg(nearest.alias("best")))["best"]
    is_like = best is not None and best["distance"] * LIKE <= len(given)
    return UsageError(
        "NAMESPACE_UNKNOWN",
        f"no namespace of this lake is called {given}",
        f"did you mean {best['namespace']}?" if best and is_like else "`strandline status --all` lists them",
    )


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)

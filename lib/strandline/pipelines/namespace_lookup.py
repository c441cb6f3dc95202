"""Finds the namespaces of a lake that an operator names.

A name is the namespace's id in its dialect, or percent-encoded with its kind, or a prefix of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import functions as F

from strandline.core.errors import UsageError
from strandline.core.ids import namespace_prefixes, namespaces_named, only_one, unknown_namespace
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.ports import LakeSnapshot
from strandline.frames.namespaces import first_of_each, only_namespaces
from strandline.frames.union import union
from strandline.pipelines.spark_jobs import SparkJobs

SIMILAR: Final = 3
"""A name is similar to another one if at most one in this many characters differs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A namespace with records, and the name of its dialect."""

    namespace: str
    dialect: str


def find(
    given: Iterable[str], dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> dict[str, Found]:
    """Return the namespace that each text names, by text. At most two jobs look up all of them.

    Raises:
        UsageError: NAMESPACE_UNKNOWN (with the most similar one), NAMESPACE_AMBIGUOUS.
    """
    asked = {name: namespaces_named(name) for name in given}
    every = tuple(dict.fromkeys(each for names in asked.values() for each in names))
    with_records = _with_records(every, dialects, snapshot, jobs) if every else {}
    fits = {
        name: [with_records[each] for each in names if each in with_records] for name, names in asked.items()
    }
    fits |= _with_prefixes([name for name, found in fits.items() if not found], dialects, snapshot, jobs)
    found: dict[str, Found] = {}
    for name, names in asked.items():
        by_namespace = {each.namespace: each for each in fits[name]}
        one = only_one(name, tuple(by_namespace))
        if one is None:
            raise _unknown(name, names, dialects, snapshot, jobs)
        found[name] = by_namespace[one]
    return found


def resolve(
    given: Sequence[str], dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> tuple[str, tuple[str, ...]]:
    """Return the dialect and the namespaces that `given` names, each once; all of them have records.

    Raises:
        UsageError: as `find`, DIALECTS_DIFFER.
    """
    first, *others = found = list(dict.fromkeys(find(given, dialects, snapshot, jobs).values()))
    for other in others:
        if other.dialect != first.dialect:
            raise UsageError(
                "DIALECTS_DIFFER",
                f"{first.namespace} is of the dialect {first.dialect}, {other.namespace} of {other.dialect}; "
                "a file holds only one dialect",
                "export each dialect to its own file",
            )
    return first.dialect, tuple(each.namespace for each in found)


def _with_records(
    names: Sequence[str], dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> dict[str, Found]:
    """Return those of the namespaces that have records, each with its dialect."""
    parts = [
        only_namespaces(snapshot.read(dialect.info.record_table).select("namespace", "bucket"), names, snapshot.buckets)
        .select("namespace", F.lit(name).alias("dialect")).distinct()
        for name, dialect in dialects.items()
    ]  # fmt: skip
    namespaces = F.collect_list(F.struct("namespace", "dialect")).alias("namespaces")
    rows = jobs.row(union(parts).agg(namespaces))["namespaces"]
    return {row["namespace"]: Found(row["namespace"], row["dialect"]) for row in rows}


def _with_prefixes(
    given: Sequence[str], dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> dict[str, list[Found]]:
    """Return, by text, the first namespaces with records that start with it."""
    found: dict[str, list[Found]] = {name: [] for name in given}
    prefixes = {name: each for name in given if (each := namespace_prefixes(name))}
    if not prefixes:
        return found
    parts = [
        snapshot.read(dialect.info.record_table).select("namespace", F.lit(name).alias("dialect"))
        for name, dialect in dialects.items()
    ]
    firsts = first_of_each(union(parts), prefixes).select(
        F.struct("given", "namespace", "dialect").alias("first")
    )
    rows = jobs.row(firsts.agg(F.collect_list("first").alias("firsts")))
    for row in sorted(rows["firsts"]):
        found[row["given"]].append(Found(row["namespace"], row["dialect"]))
    return found


def _unknown(
    given: str, names: Sequence[str], dialects: Mapping[str, Dialect], snapshot: LakeSnapshot, jobs: SparkJobs
) -> UsageError:
    """Return the error of an unknown name, with the nearest known one: few characters differ, or it is a prefix."""
    best = None
    if names:
        every = union(
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

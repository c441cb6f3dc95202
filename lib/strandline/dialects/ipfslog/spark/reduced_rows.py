"""Reduced rows of logs: their state hashes, their forks, and how parts become one reduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import EQUIVOCATIONS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialect_api.refusals import Refusal, Refused, refused, together
from strandline.dialect_api.removed import snapshot_lost
from strandline.dialects.ipfslog.spark import forks, states
from strandline.dialects.ipfslog.spark.hints import Hint
from strandline.dialects.ipfslog.spark.tables import DOCUMENTS, ENTRIES, HEADS, TAILS, VIEW
from strandline.dialects.ipfslog.spark.write_lists import WriteLists, described
from strandline.dialects.ipfslog.types import DIALECT
from strandline.frames.states import as_namespace_state
from strandline.frames.strays import strays
from strandline.frames.union import union

_LAST_POSITION = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ReducedRows:
    """Rows of some logs by table, the keys of their stored rows to delete, by table (where there can be any), and
    their states.

    `first_position` is the least position whose row may change, if known.
    """

    rows: Mapping[str, DataFrame]
    deletes: Mapping[str, DataFrame]
    states: DataFrame
    refused: Refused | None = None
    first_position: int | None = None


def with_hashes(
    parts: DataFrame, heads: DataFrame, missing: DataFrame, blocks: DataFrame, groups: DataFrame | None
) -> DataFrame:
    """Hash the states of logs from their parts.

    Reads:  parts: `states.LOG`, entries, mode, kept_blocks, kept_groups; heads: namespace, record_id of all heads;
            missing: namespace, parent, of links to missing parents; blocks, groups: namespace and the new hashes.
    Gives:  as `states.hashed`.
    Rows:   one per log.
    """
    none = F.lit(None).cast("array<struct<place:int,digest:binary>>")
    joined = (
        parts.join(states.head_digests(heads), "namespace", "left")
        .join(states.missing_digests(missing), "namespace", "left")
        .join(blocks, "namespace", "left")
    )
    with_groups = (
        joined.withColumn("groups", none) if groups is None else joined.join(groups, "namespace", "left")
    )
    return states.hashed(with_groups)


def stored_strays(
    rows: Mapping[str, DataFrame], configured: DataFrame, tables: Tables, hint: Hint
) -> dict[str, DataFrame]:
    """Return, by table, the keys of stored rows that are not in `rows`, which are all rows of these logs.

    Reads:  configured: namespace, is_known (rows of the log may be stored); hint: that of `configured`.
    """
    known = configured.where("is_known").select("namespace")
    return {table: strays(table, tables.read(table), found, hint(known)) for table, found in rows.items()}


def without_lost(part: ReducedRows, bereft: DataFrame, jobs: Jobs) -> ReducedRows:
    """Leave out and refuse logs in which a pruned entry is a head: the entries after it were there, and are gone.

    No collection takes a head, so an older version of the entries was restored. What they decided cannot be told.
    Nor can it of logs in `bereft`: only their applied snapshot had the store and the write list that decided.
    """
    heads = part.rows[HEADS].where("writer IS NULL").select("namespace", F.lit(False).alias("is_bereft"))
    others = part.states.join(bereft, "namespace", "left_semi").select(
        "namespace", F.lit(True).alias("is_bereft")
    )
    lost = heads.unionByName(others).groupBy("namespace").agg(F.max("is_bereft").alias("is_bereft"))
    found = refused(lost, jobs, _lost)
    if found is None:
        return part
    return replace(
        part,
        rows={table: found.others(rows) for table, rows in part.rows.items()},
        deletes={table: found.others(keys) for table, keys in part.deletes.items()},
        states=found.others(part.states),
        refused=together((part.refused, found)),
    )


def _lost(log: Row) -> Refusal:
    name = log["namespace"]
    if log["is_bereft"]:
        return snapshot_lost(name)
    return Refusal(
        name,
        f"Entries of the log {name} that follow pruned ones are missing: an older version of {ENTRIES} was restored.",
        "ENTRIES_LOST",
        "Ingest the entries of this log again, or restore the newer version.",
    )


def equivocations(entries: DataFrame, clocks: DataFrame, jobs: Jobs) -> DataFrame | None:
    """Return the rows of `equivocation` of the entries at these clocks (`forks.CLOCK`), or None."""
    clocks = jobs.checkpoint(clocks, "clocks of several entries")
    if not jobs.has_rows(clocks):
        return None
    members = jobs.checkpoint(forks.without_twins(entries, clocks), "entries at one clock")
    return jobs.checkpoint(forks.forks(members, entries), "forks")


def as_reduction(
    parts: Sequence[ReducedRows], found_forks: DataFrame | None, lists: WriteLists | None, scope: ReduceScope
) -> Reduction:
    """Return parts, which have different logs, as one reduction; `lists` are the write lists of these logs."""
    rows = {table: union([part.rows[table] for part in parts]) for table in (HEADS, TAILS, VIEW, DOCUMENTS)}
    deletes = {
        table: union([part.deletes[table] for part in parts if table in part.deletes])
        for table in rows
        if any(table in part.deletes for part in parts)
    }
    if found_forks is not None:
        rows[EQUIVOCATIONS] = found_forks
    shaped = as_namespace_state(
        described(union([part.states for part in parts]), lists), dialect=DIALECT, reduced_version=scope.version,
        run_id=scope.run_id,
    )  # fmt: skip
    firsts = [part.first_position for part in parts if part.first_position is not None]
    bounds = {VIEW: {"position": (min(firsts), _LAST_POSITION)}} if len(firsts) == len(parts) else {}
    return Reduction(rows, shaped, deletes, bounds, together(part.refused for part in parts))

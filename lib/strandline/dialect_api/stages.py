"""The stages of admission that a dialect of records with an address fills in, and their values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import PRUNED
from strandline.dialect_api.admission import TableInsert
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.ports import Jobs, Tables
from strandline.frames import known
from strandline.frames.buckets import bucket_of
from strandline.frames.verdicts import is_accepted_record, is_arrival
from strandline.kernels.opened import Content
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, Source


@dataclass(frozen=True, slots=True)
class Gathered:
    """The basis of decisions: the blocks judged by their own bytes, the lake, and the actions."""

    judged: DataFrame
    tables: Tables
    jobs: Jobs


@dataclass(frozen=True, slots=True)
class Resolution:
    """The decisions on blocks after other records were looked up.

    `concluded` has the columns of judged blocks, is_recalled and outcome: accepted, deferred, foreign, stray, or any
    other text for rejected. `verdicts` has VERDICT of `frames.verdicts` and is_recalled, one row per block. `found` is
    `RecordStages.measure` of `concluded` if the decision needed it.
    """

    concluded: DataFrame
    verdicts: DataFrame
    found: Row | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """The documents of a run and their verdicts.

    `judged` are the blocks that were judged in this run, also waiting ones, `concluded` the same with their outcome.
    `verdicts` has every delivered block, `delivered` every document; both are lazy. `gathered` is the result of
    `gather`, `sources` of `frames.provenance.batch_sources`, `read` of `frames.blocks.counted`, `found` of
    `RecordStages.measure`. If all is known and nothing waits, nothing is gathered: `gathered` has only the members of
    `Gathered`, and `found` only 0. `recalled` are the waiting rows that were judged again, `others` their verdicts,
    `refuted` the findings of those that were not accepted; None without such rows.
    """

    documents: DataFrame
    judged: DataFrame
    concluded: DataFrame
    verdicts: DataFrame
    delivered: DataFrame
    gathered: Any
    sources: DataFrame
    read: Row
    found: Row
    others: DataFrame | None
    recalled: DataFrame | None
    refuted: DataFrame | None


@dataclass(frozen=True, slots=True)
class SideRows:
    """Further results of a batch: inserts of side tables, written before the records, and counts."""

    inserts: tuple[TableInsert, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


class RecordStages(Dialect):
    """The stages of admission that a dialect of records with an address fills in.

    `document_fields` are BLOCK_FIELDS and `claims`, which are texts that files state about blocks; `judged` is
    JUDGED_FIELDS and the facts of the dialect, among them `links` (ARRAY<BINARY>, ids of the records that a record
    follows), also a column of the record table; None if records name no records. `open_reasons` are reasons that do not
    depend on block and claims alone: verdicts with them are not reused. `signature` is a column of documents and of the
    record table that the record id does not cover, or None: copies of a record can then differ in it, so each is judged
    by itself, and `judge_id` is the SHA-256 of its block. `read_content`, `judge` and `replay` are
    functions of kernels: workers import only their module.
    """

    document_fields: ClassVar[tuple[pa.Field, ...]]
    judged: ClassVar[pa.Schema]
    links: ClassVar[str | None]
    claims: ClassVar[tuple[str, ...]] = ()
    open_reasons: ClassVar[tuple[str, ...]] = ()
    signature: ClassVar[str | None] = None

    @staticmethod
    @abstractmethod
    def read_content(
        source: Source, content: Content, pieces: Pieces, options: ReadOptions
    ) -> Iterator[None]:
        """Add the documents of one file or split, in order. Must yield often, so that full batches are passed on."""

    @staticmethod
    @abstractmethod
    def judge(block: bytes, claims: Mapping[str, Any], options: ReadOptions) -> Mapping[str, Any]:
        """Return the columns of `judged` from the bytes of a block and the claims about it.

        In the task that reads the file, `claims` also has what `read_content` states about the block and no column
        holds: the result must be the same without it.
        """

    @staticmethod
    @abstractmethod
    def replay(row: Mapping[str, Any], pieces: Pieces, options: ReadOptions) -> Iterator[None]:
        """Add the documents of a rejected row of `quarantine`. Must yield often."""

    @abstractmethod
    def recall(self, waiting: DataFrame, gathered: Any) -> DataFrame:
        """Return the rows of `waiting` to judge again, since what they wait for may have arrived."""

    @abstractmethod
    def resolve(self, judged: DataFrame, gathered: Any) -> Resolution:
        """Decide what needs other records: parents, identities, states.  Reads: `judged`, is_recalled."""

    @abstractmethod
    def as_records(self, accepted: DataFrame, buckets: int) -> DataFrame:
        """Shape accepted records to the contract of the record table, with `source`.

        The writing run adds `run_id` and `landed_at`.
        """

    def gather(self, judged: DataFrame, waiting: DataFrame | None, tables: Tables, jobs: Jobs) -> Gathered:
        """Return the further inputs of `recall` and `resolve`; `waiting` is None if nothing waits."""
        return Gathered(judged, tables, jobs)

    def claims_in_evidence(self) -> Mapping[str, Column]:
        """Return claims as evidence in rows of `quarantine` tells them; null where there was none."""
        return {}

    def measures(self) -> Mapping[str, Column]:
        """Return the aggregates over concluded blocks, by name, that `resolve` and `side_rows` need."""
        return {}

    def measured(self, buckets: int) -> Mapping[str, Column]:
        """Return the aggregates over concluded blocks, by name, that the inserts need, and those of `measures`."""
        is_new = is_accepted_record()
        found = {
            "buckets": F.collect_set(F.when(is_new, bucket_of(F.col("namespace"), buckets))),
            "signed": F.count_if(F.coalesce("is_signed", F.lit(False))),
            "arrivals": F.count_if(is_arrival()),
            "refused": F.count_if(~F.col("outcome").isin("accepted", "foreign")),
        }
        layout = contract(self.info.record_table).layout_column
        if layout is not None:
            found["low"] = F.min(F.when(is_new, F.col(layout)))
            found["high"] = F.max(F.when(is_new, F.col(layout)))
        return {**found, **self.measures()}

    def measure(self, concluded: DataFrame, gathered: Gathered) -> Row:
        """Return the values of `measured`, in one query."""
        each = self.measured(gathered.tables.buckets).items()
        return gathered.jobs.row(concluded.agg(*(measure.alias(name) for name, measure in each)))

    def side_rows(self, batch: Batch, found: Row) -> SideRows:
        """Return the inserts of side tables, and counts; `found` has the measures."""
        return SideRows()

    def follows(self) -> Column:
        """Return the ids of the records that a record follows, from columns of `judged` and of the record table."""
        return F.array() if self.links is None else F.coalesce(F.col(self.links), F.array())

    def skeletons(self, pruned: DataFrame) -> DataFrame | None:
        """Return namespace, record_id and `links` of pruned records, or None if the links are not stored."""
        return None

    def pruned(self, tables: Tables) -> DataFrame:
        """Return the rows of `pruned_record` of this dialect: records that are known and must not return."""
        return known.pruned_records(tables.read(PRUNED), self.info.kinds)

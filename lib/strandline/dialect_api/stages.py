"""What a dialect of records with an address fills in of the stages of admission, and what these hand on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row

from strandline.dialect_api.admission import TableInsert
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.ports import Jobs, Tables
from strandline.frames import known
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import Content, ReadOptions, Source

PRUNED = "pruned_record"
RECORD = "record"
"""Kind of the blocks that are records; blocks of other kinds go into side tables."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a dialect has at hand when it decides: the blocks judged by their own bytes, the lake, and the actions."""

    judged: DataFrame
    tables: Tables
    jobs: Jobs


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of blocks once other records were asked.

    `concluded` has the columns of judged blocks and outcome: accepted, deferred, foreign, stray, or anything else for
    rejected. `verdicts` are VERDICT of `frames.verdicts` and is_recalled, a row each.
    """

    concluded: DataFrame
    verdicts: DataFrame


@dataclass(frozen=True, slots=True)
class Batch:
    """The documents of a run, and what became of them.

    `judged` are the blocks that were judged now, waiting ones too, `concluded` the same with their outcome; `verdicts`
    is what became of every block that was delivered, `delivered` of every document. `gathered` is what the dialect
    looked up. `recalled` are the waiting rows that were judged again, `refuted` the findings of those of them that were
    not accepted; None where nothing waits for what came.
    """

    documents: DataFrame
    judged: DataFrame
    concluded: DataFrame
    verdicts: DataFrame
    delivered: DataFrame
    gathered: Any
    recalled: DataFrame | None
    refuted: DataFrame | None


@dataclass(frozen=True, slots=True)
class SideRows:
    """What a batch adds beside its records: inserts of side tables, written before them, and counts of its own."""

    inserts: tuple[TableInsert, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


class RecordStages(Dialect):
    """What a dialect of records with an address fills in of the stages of admission.

    `document_fields` are BLOCK_FIELDS and `claims`, texts that files say of blocks; `judged` is JUDGED_FIELDS and the
    dialect's facts, among them `links` (ARRAY<BINARY>, the ids of the records that a record follows), a column of the
    record table too. `open_reasons` are those of something beside block and claims: verdicts with them are not
    remembered. `read_content`, `judge` and `replay` are functions of the kernels: workers import their module alone.
    """

    document_fields: ClassVar[tuple[pa.Field, ...]]
    judged: ClassVar[pa.Schema]
    links: ClassVar[str]
    claims: ClassVar[tuple[str, ...]] = ()
    open_reasons: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    @abstractmethod
    def read_content(
        source: Source, content: Content, pieces: Pieces, options: ReadOptions
    ) -> Iterator[None]:
        """Add the documents of one file, or of a split of it, in their order, yielding often."""

    @staticmethod
    @abstractmethod
    def judge(block: bytes, claims: Mapping[str, Any], options: ReadOptions) -> Mapping[str, Any]:
        """Return what the bytes of a block, and the claims on it, tell: columns of `judged`."""

    @staticmethod
    @abstractmethod
    def replay(row: Mapping[str, Any], pieces: Pieces, options: ReadOptions) -> Iterator[None]:
        """Add the documents of a rejected row of `quarantine` as it was delivered, yielding often."""

    @abstractmethod
    def recall(self, waiting: DataFrame, gathered: Any) -> DataFrame:
        """Return the rows of `waiting` whose records are to be judged again, since what they wait for may be here."""

    @abstractmethod
    def resolve(self, judged: DataFrame, gathered: Any) -> Resolution:
        """Decide what needs other records: parents, identities, states.  Reads: `judged`, is_recalled."""

    @abstractmethod
    def as_records(self, accepted: DataFrame, buckets: int, run_id: str) -> DataFrame:
        """Shape accepted records to the contract of the record table."""

    def gather(self, judged: DataFrame, waiting: DataFrame | None, tables: Tables, jobs: Jobs) -> Gathered:
        """Return what `recall` and `resolve` need beside the blocks; `waiting` is None if nothing waits."""
        return Gathered(judged, tables, jobs)

    def claims_in_evidence(self) -> Mapping[str, Column]:
        """Return claims as evidence in rows of `quarantine` tells them; null where there was none."""
        return {}

    def measures(self) -> Mapping[str, Column]:
        """Return aggregates over the concluded blocks, by name, that `side_rows` wants."""
        return {}

    def side_rows(self, batch: Batch, found: Row) -> SideRows:
        """Return what goes into side tables, and counts; `found` has the measures."""
        return SideRows()

    def skeletons(self, pruned: DataFrame) -> DataFrame | None:
        """Return namespace, record_id and `links` of pruned records, or None if nothing tells the links."""
        return None

    def pruned(self, tables: Tables) -> DataFrame:
        """Return the rows of `pruned_record` of this dialect: what is known and does not come back."""
        return known.pruned_records(tables.read(PRUNED), self.info.kinds)

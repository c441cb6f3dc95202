"""Verdicts on blocks from their own bytes, row by row: while a file is read, or later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa

from strandline.core.verdict import encode_evidence
from strandline.kernels.batches import as_batch
from strandline.kernels.blocks import BLOCK_KINDS, RECORD
from strandline.kernels.guard import INTERNAL_ERROR, guarded
from strandline.kernels.lines import CappedBytes
from strandline.kernels.pieces import Pieces, piece_schema
from strandline.kernels.reading import ReadContent, ReadOptions, read_to

JudgeBlock: TypeAlias = Callable[[bytes, Mapping[str, Any], ReadOptions], Mapping[str, Any]]
"""Takes a block, the claims about it and the options; returns its facts by name: JUDGED_FIELDS and the dialect's."""

READ_JUDGED_BYTES: Final = 128 * 1024 * 1024
"""Bytes of blocks that one task judges as it reads them: more than splits have, less than a large CAR."""

JUDGED_TOGETHER: Final = 256 * 1024
"""Bytes of documents that wait to be judged one after the other, which is faster than to read and judge by turns.

What a reader states about them may be parsed values, which take up to `limits.VALUE_BYTES` for each byte.
"""

PREFIX: Final = "judged_"
"""The prefix of facts in the names of columns of documents."""

_OF_THE_DOCUMENT: Final = ("judge_id", "block", "source")
"""Fields of JUDGED_FIELDS that a document has by itself, or that Spark adds."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How a dialect judges blocks: a function, and the schema of the facts that it returns, JUDGED_FIELDS first.

    A task judges at most the first `read_bytes` of its blocks as it reads them.
    """

    judge: JudgeBlock
    facts: pa.Schema
    read_bytes: int = READ_JUDGED_BYTES

    @property
    def of_documents(self) -> tuple[str, ...]:
        """The names of facts that documents get if they are judged as they are read."""
        return tuple(name for name in self.facts.names if name not in _OF_THE_DOCUMENT)

    def fields(self) -> tuple[pa.Field, ...]:
        """Return the fields of such documents: all null for a document that was not judged."""
        return tuple(pa.field(PREFIX + name, self.facts.field(name).type) for name in self.of_documents)

    def facts_of(self, block: bytes, claims: Mapping[str, Any], options: ReadOptions) -> Mapping[str, Any]:
        """Return the facts of a block; after an internal fault it waits for corrected rules."""
        return guarded(
            lambda: self.judge(block, claims, options),
            lambda evidence: {"reasons": [INTERNAL_ERROR], "evidence": encode_evidence(evidence)},
        )


def _without_facts(names: Iterable[str]) -> dict[str, Any]:
    return {**dict.fromkeys(names), "kind": RECORD, "reasons": []}


def judged(
    batches: Iterable[pa.RecordBatch], judging: Judging, options: ReadOptions
) -> Iterator[pa.RecordBatch]:
    """Yield the facts of blocks, one row each.

    Reads: judge_id, record_id, block, source, and the claims of the dialect.  Gives: the facts of `judging`.
    """
    names = judging.facts.names
    nothing = _without_facts(names)
    for batch in batches:
        rows = (
            {**nothing, **row, **judging.facts_of(row["block"], row, options)} for row in batch.to_pylist()
        )
        found = [tuple(map(row.__getitem__, names)) for row in rows]
        if found:
            yield as_batch(found, judging.facts)


class JudgedPieces(Pieces):
    """Collects pieces as `Pieces` does, and judges their blocks before they leave.

    A large file that cannot be split is read by one task: the blocks beyond the limit are left to as many tasks as
    there are.
    """

    def __init__(self, extra: tuple[pa.Field, ...], judging: Judging, options: ReadOptions) -> None:
        super().__init__(extra)
        self.schema = piece_schema((*extra, *judging.fields()))
        self._judging = judging
        self._options = options
        self._names = judging.of_documents
        self._nothing = _without_facts(self._names)
        self._left = judging.read_bytes
        self._stated: list[tuple[bytes, dict[str, Any]]] = []
        self._stated_bytes = 0
        self._facts: list[tuple[Any, ...]] = []

    def add(
        self, file_no: int, part: int, frame: int, offset: int, size: int, kept: CappedBytes, **more: object
    ) -> None:
        """Add one piece; `more` may also have what only `judge` reads."""
        super().add(file_no, part, frame, offset, size, kept, **more)
        self._stated.append((kept.raw, more))
        self._stated_bytes += len(kept.raw)
        if self._stated_bytes >= JUDGED_TOGETHER:
            self._judge()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield the remaining pieces, if any, with the facts of their blocks."""
        self._judge()
        self._rows = [row + facts for row, facts in zip(self._rows, self._facts, strict=True)]
        self._facts = []
        yield from super().rest()

    def _judge(self) -> None:
        self._facts += [self._facts_of(block, stated) for block, stated in self._stated]
        self._stated, self._stated_bytes = [], 0

    def _facts_of(self, block: bytes, stated: Mapping[str, Any]) -> tuple[Any, ...]:
        if stated.get("kind") not in BLOCK_KINDS or self._left < len(block):
            return (None,) * len(self._names)
        self._left -= len(block)
        of_block = self._judging.facts_of(block, stated, self._options)
        facts = {**self._nothing, "record_id": stated["record_id"], **of_block}
        return tuple(map(facts.__getitem__, self._names))


def read_judged(
    batches: Iterable[pa.RecordBatch],
    options: ReadOptions,
    read_content: ReadContent,
    extra: tuple[pa.Field, ...],
    judging: Judging,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of files with the facts of their blocks: `read_files` and `judged` in one task.

    Reads: as `read_files`.  Gives: PIECE_FIELDS, `extra`, `judging.fields`.
    """
    return read_to(batches, options, read_content, JudgedPieces(extra, judging, options))

"""Blocks with an address, row by row: documents of files, verdicts, replays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, Literal, TypeAlias

import pyarrow as pa

from strandline.core.verdict import Evidence, encode_evidence
from strandline.kernels.guard import INTERNAL_ERROR, guarded_steps
from strandline.kernels.lines import CappedBytes, CappedReader
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions

Kind: TypeAlias = Literal["block", "shared", "claim", "foreign"]

BLOCK_FIELDS: Final = (
    pa.field("kind", pa.string()),
    pa.field("namespace", pa.string()),
    pa.field("record_id", pa.binary()),
    pa.field("judge_id", pa.binary()),
)
"""Fields that a document adds to a piece; a dialect appends the claims of files about blocks.

- `kind`: `block`; `shared`, a block from a store that other applications use, too; `claim`, an address that a file
  states; `foreign`, a block that no record can name. Null if the piece is a damage.
- `namespace`: from the first look at a block, or from the evidence of a refused document. `record_id`: of a block; of a
  claim the id, null if it cannot be read.
- `judge_id`: the key of a block to judge: the record id, unless a file makes claims about the block.
"""

JUDGED_FIELDS: Final = (
    pa.field("judge_id", pa.binary(), nullable=False),
    pa.field("block", pa.binary(), nullable=False),
    pa.field("record_id", pa.binary()),
    pa.field("kind", pa.string(), nullable=False),
    pa.field("namespace", pa.string()),
    pa.field("reasons", pa.list_(pa.string())),
    pa.field("evidence", pa.string()),
    pa.field("is_signed", pa.bool_()),
    pa.field("source", pa.string()),
)
"""Fields that the bytes of a block decide; a dialect appends its facts.

- `kind`: `record`; `foreign`, a block of another application; `stray`, foreign if it was shared, else not a record; or
  another kind of the dialect, for a side table.
- `reasons`, ascending, and `evidence` of a record that is invalid by its bytes. `is_signed`: a signature was verified.
- `source`: the first delivery of the block, copied from the input.
"""

RECORD: Final = "record"
"""Kind of the blocks that are records; blocks of other kinds go to side tables."""

BLOCK_KINDS: Final = ("block", "shared")
"""Kinds of the documents that are blocks to judge."""

Replay: TypeAlias = Callable[[Mapping[str, Any], Pieces, ReadOptions], Iterator[None]]
"""Adds the documents of one rejected row; yields often, so that full batches are passed on."""

OF_A_FILE: Final = frozenset(
    {
        "BOMB", "CONTAINER_DAMAGED", "CONTAINER_NESTED", "CONTAINER_UNSUPPORTED", "FILE_TOO_LARGE", "LINE_TOO_LARGE",
    }
)  # fmt: skip
"""Reasons of bytes that cannot be read alone, or that a size limit decided: a replay keeps them."""


class BlockPieces:
    """Turns the documents of one file into pieces, numbered in their order."""

    def __init__(self, file_no: int, part: int, pieces: Pieces, options: ReadOptions) -> None:
        self.options = options
        self._file_no = file_no
        self._part = part
        self._pieces = pieces
        self._number = 0

    def put(self, kind: Kind | None, offset: int, raw: CappedBytes, **more: object) -> None:
        """Add a document; `more` names fields of BLOCK_FIELDS and of the dialect."""
        self._pieces.add(self._file_no, self._part, self._number, offset, 0, raw, kind=kind, **more)
        self._number += 1

    def refuse(
        self, reasons: tuple[str, ...], evidence: Evidence, raw: CappedBytes, offset: int, **more: object
    ) -> None:
        """Add a document that is rejected before it is a block."""
        self.put(None, offset, raw, damage=",".join(reasons), evidence=encode_evidence(evidence), **more)

    def guarded(self, steps: Iterator[None], raw: bytes, offset: int) -> Iterator[None]:
        """Yield at each step that adds a document of these bytes; if one raises, the bytes wait for corrected rules."""

        def at_fault(evidence: Evidence) -> None:
            self.refuse((INTERNAL_ERROR,), evidence, self.kept(raw), offset)

        return guarded_steps(steps, at_fault)

    def kept(self, raw: bytes) -> CappedBytes:
        """Return the bytes of a document up to the limits."""
        if len(raw) <= self.options.keep.whole_bytes:
            return CappedBytes(raw, len(raw))
        return self.kept_rest([raw], ())

    def kept_rest(self, held: Iterable[bytes], rest: Iterable[bytes]) -> CappedBytes:
        """Return what was read of a file and its rest as the bytes of one document, up to the limits."""
        reader = CappedReader(self.options.keep)
        for block in chain(held, rest):
            reader.add(block)
        return reader.kept()


def replayed(
    batches: Iterable[pa.RecordBatch], replay: Replay, extra: tuple[pa.Field, ...], options: ReadOptions
) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of rejected rows that are judged again; damage of a file stays rejected.

    Reads: file_no, part, namespace, raw, record_id, reasons (joined by commas), evidence.
    Gives: PIECE_FIELDS and `extra`.
    """
    pieces = Pieces(extra)
    for batch in batches:
        for row in batch.to_pylist():
            pieces.first_part = row["part"]
            codes = row["reasons"].split(",")
            if codes == ["TRUNCATED"] or not OF_A_FILE.isdisjoint(codes):
                keep_rejected(row, pieces, options)
            else:
                for _ in replay(row, pieces, options):
                    yield from pieces.full()
            yield from pieces.full()
    yield from pieces.rest()


def keep_rejected(row: Mapping[str, Any], pieces: Pieces, options: ReadOptions) -> None:
    """Add a rejected row with its stored verdict."""
    raw = CappedBytes(row["raw"], len(row["raw"]))
    BlockPieces(row["file_no"], 0, pieces, options).put(
        None, 0, raw, namespace=row["namespace"], record_id=row["record_id"], damage=row["reasons"],
        evidence=row["evidence"],
    )  # fmt: skip

"""Rejected frames and files to elements again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import Final

import pyarrow as pa

from strandline.dialects.sdmp.kernels.elements import (
    ELEMENT_FIELDS,
    FramePieces,
    FrameRules,
    read_content,
)
from strandline.dialects.sdmp.kernels.texts import is_strict
from strandline.kernels.lines import CappedBytes, StreamLine
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, read_one


def replayed(
    batches: Iterable[pa.RecordBatch], options: ReadOptions, local_nodes: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of rejected frames and files that are judged again.

    Reads: file_no, stays_as (BIGINT, the part of a row that keeps its verdict, else null), raw, reasons
            (comma-separated), node, evidence.
    Gives: PIECE_FIELDS and ELEMENT_FIELDS.
    """
    pieces = Pieces(ELEMENT_FIELDS)
    rules = FrameRules(options.keep, is_strict(options), local_nodes)
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in _COLUMNS)
        for file_no, stays_as, raw, reasons, node, evidence in zip(*columns, strict=True):
            codes = set(reasons.split(","))
            # Some reasons depend on the element alone, so they stay.
            if stays_as is not None or (codes & _ANNOUNCEMENT_REASONS and not codes & _JUDGED_AGAIN):
                pieces.add(
                    file_no, stays_as or 0, 0, 0, 0, CappedBytes(raw, len(raw)), node=node, damage=reasons,
                    evidence=evidence,
                )  # fmt: skip
            elif codes & _FRAME_REASONS:
                line = StreamLine(0, CappedBytes(raw, len(raw)), "TRUNCATED" not in codes, False)
                adder = FramePieces(file_no, 0, pieces, rules)
                announcement = adder.add(0, line)
                if announcement is not None:
                    adder.add_announced(0, line, announcement, 0)
            elif _NOT_OWN in codes:
                position = json.loads(evidence)[_NOT_OWN]["position"]
                FramePieces(file_no, 0, pieces, rules).replay_announced(node, raw, position)
            else:
                for _ in read_one(
                    file_no, raw, pieces, options, partial(read_content, local_nodes=local_nodes)
                ):
                    yield from pieces.full()
            yield from pieces.full()
    yield from pieces.rest()


_COLUMNS: Final = ("file_no", "stays_as", "raw", "reasons", "node", "evidence")
_FRAME_REASONS: Final = frozenset(
    {"BAD_NODE", "FRAME_SHAPE", "FRAME_TOO_LARGE", "FRAME_TOO_MANY", "JSON_INVALID"}
)
_NOT_OWN: Final = "NOT_OWN_NODE"
_JUDGED_AGAIN: Final = _FRAME_REASONS | {_NOT_OWN}
_ANNOUNCEMENT_REASONS: Final = frozenset({"BAD_AUTHOR", "BAD_RESOURCE", "NON_CANONICAL_ID"})
"""Reasons of announced elements; lines with NON_CANONICAL_ID do not reach this kernel."""

"""Elements to line facts: form, hash, claim and segment of each, in one pass in stream order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.kernels.chunks import CHUNK_FRAME, judge_chunk
from strandline.dialects.sdmp.kernels.texts import TEXT_FRAME

MALFORMED, MISPLACED, NON_CANONICAL, MISMATCH, NOT_STORED, IRREGULAR = 1, 2, 4, 8, 16, 32
"""Bits of `code`, the failed checks of one element; 0 is a candidate for acceptance. NOT_STORED needs tables; IRREGULAR
is a chunk whose lines must be judged one by one.
"""

LINE_FACTS: Final = pa.schema(
    {
        "code": pa.int8(), "hash": pa.string(), "idx": pa.int64(), "head": pa.int64(), "expected": pa.string(),
        "before": pa.binary(), "border": pa.bool_(), "bytes_before": pa.int64(),
    }
)  # fmt: skip
"""The facts of one element.

- `code`: the failed checks. `hash`: H(line), if it has the form of a line.
- `idx`: its index in its frame (text journal: in its part). `head`: the index of the head of its segment.
- `expected`, `before`: on a mismatch, the claimed number and the line before.
- `border`: the element before it is in the part before. `bytes_before`: bytes of the part before it.

A chunk without IRREGULAR has the `hash` and the `idx` of its last line, and `expected` is the number of its first line
(null: line 1). It is a segment of its own, with `head` 0.
"""

Columns = tuple[pd.Series, ...]

_Row: TypeAlias = tuple[bytes, str | None, str | None, bool, bool, bool, bool]
"""Of an element: its bytes, its node, the claim of its frame; whether it is a chunk, starts a frame, is damage, has its
`border`.
"""
_Checked: TypeAlias = tuple[np.ndarray, list[str | None], list[int], list[str | None], list[bytes | None]]
"""code, hash, head, expected and before of each element."""


def line_facts(batches: Iterable[Columns], *, strict: bool) -> Iterator[pd.DataFrame]:
    """Yield the facts of LINE_FACTS for (file_no, part, frame, node, raw, damage, claim, size), in order.

    A *segment* is a sequence of consecutive elements of one frame that passed every check, each the successor of the
    one before; its first element is its *head*. The hash of the last row is carried from batch to batch, so rows must
    come in stream order.

    An element with code 0 passes these checks (node journal rules, checks 5 to 8):
    - it has one of the two line forms (MALFORMED_LINE);
    - a fingerprint is the first element of its file or frame and equals the node (FIRST_LINE_MISPLACED);
    - strict, 0.12: the last character of every id is one of `AQgw` (NON_CANONICAL_ID);
    - its number is the hash of the element before it, if that one has the form of a line (LINE_NUMBER_MISMATCH).
    """
    walk = _Walk(strict)
    for file_no, part, frame, node, raw, damage, claim, size in batches:
        starts = walk.starts(file_no.to_numpy(), part.to_numpy(), frame.to_numpy())
        yield walk.facts(starts, part, frame, node, raw, damage, claim, size)


class _Walk:
    """The state of one pass over the rows of a task."""

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._here: tuple[int, int, int] | None = None
        self._rules = codec.NO_RULES
        self._claim: str | None = None
        self._before: bytes | None = None
        self._index = 0
        """Index of the next element, if it does not start a frame."""
        self._head = 0
        self._bytes_before = 0
        self._in_segment = False
        """True if the next element can continue the segment: the one before passed all checks."""

    def starts(self, file_no: np.ndarray, part: np.ndarray, frame: np.ndarray) -> np.ndarray:
        """Return, per row, whether it starts another frame than the row before it."""
        starts = np.empty(len(file_no), dtype=bool)
        if not len(starts):
            return starts
        changed = (file_no[1:] != file_no[:-1]) | (part[1:] != part[:-1]) | (frame[1:] != frame[:-1])
        starts[1:] = changed
        first = (int(file_no[0]), int(part[0]), int(frame[0]))
        starts[0] = first != self._here
        self._here = (int(file_no[-1]), int(part[-1]), int(frame[-1]))
        return starts

    def facts(
        self, starts: np.ndarray, part: pd.Series, frame: pd.Series, node: pd.Series, raw: pd.Series,
        damage: pd.Series, claim: pd.Series, size: pd.Series,
    ) -> pd.DataFrame:  # fmt: skip
        """Return the facts of one batch and keep its end as state for the next."""
        kinds, sizes = frame.to_numpy(), size.to_numpy()
        indexes = _sums_before(np.ones(len(kinds), dtype=np.int64), starts, self._index)
        bytes_before = _sums_before(sizes, starts, self._bytes_before)
        borders = starts & np.isin(kinds, (TEXT_FRAME, CHUNK_FRAME)) & (part.to_numpy() > 0)
        rows = zip(
            raw.to_numpy(), node.to_numpy(), claim.to_numpy(), (kinds == CHUNK_FRAME).tolist(), starts.tolist(),
            damage.notna().tolist(), borders.tolist(), strict=True,
        )  # fmt: skip
        codes, hashes, heads, expected, before = self._checked(rows, indexes)
        if len(kinds):
            self._index, self._bytes_before = int(indexes[-1]) + 1, int(bytes_before[-1] + sizes[-1])
        return pd.DataFrame(
            {
                "code": codes, "hash": hashes, "idx": indexes, "head": np.array(heads, dtype=np.int64),
                "expected": expected, "before": before, "border": borders, "bytes_before": bytes_before,
            }
        )  # fmt: skip

    def _checked(self, rows: Iterable[_Row], indexes: np.ndarray) -> _Checked:
        """Return what the checks of each row give; `indexes` is changed for chunks, to that of their last line."""
        count = len(indexes)
        codes = np.zeros(count, dtype=np.int8)
        heads: list[int] = []
        hashes: list[str | None] = [None] * count
        expected: list[str | None] = [None] * count
        before: list[bytes | None] = [None] * count
        rules, head, carried = self._rules, self._head, self._claim
        in_segment, previous = self._in_segment, self._before
        for row, (line, node, claim, is_chunk, is_start, is_damage, is_border) in enumerate(rows):
            if is_start:
                rules, carried, in_segment, previous = codec.rules_of(node), claim, False, None
            if is_damage:
                carried, in_segment = None, False
                heads.append(head)
                continue
            if is_chunk:
                codes[row], hashes[row], expected[row], indexes[row] = _chunk_facts(line)
                heads.append(0)
                continue
            code = 0
            if rules.link(line):
                if self._strict and not rules.canonical(line):
                    code = NON_CANONICAL
                if carried is not None and line[: rules.id_chars] != carried.encode("ascii"):
                    code |= MISMATCH
                    expected[row], before[row] = carried, previous
            elif rules.first(line):
                if not is_start or is_border or str(line, "ascii") != node:
                    code = MISPLACED
                elif self._strict and not rules.canonical(line):
                    code = NON_CANONICAL
            else:
                code = MALFORMED
            if code & (MALFORMED | MISPLACED):
                carried, in_segment = None, False
            else:
                hashes[row] = carried = rules.hash(line)
                if not in_segment:
                    head = int(indexes[row])
                in_segment = not code and not is_border
            previous = line
            if code:
                codes[row] = code
            heads.append(head)
        self._rules, self._head, self._claim = rules, head, carried
        self._in_segment, self._before = in_segment, previous
        return codes, hashes, heads, expected, before


def _chunk_facts(chunk: bytes) -> tuple[int, str | None, str | None, int]:
    """Return code, hash, expected and idx of a chunk, which is a part of its own."""
    judged = judge_chunk(chunk)
    if judged is None:
        return IRREGULAR, None, None, 0
    return 0, judged.last_hash, judged.number, judged.lines - 1


def _sums_before(sizes: np.ndarray, starts: np.ndarray, carried: int) -> np.ndarray:
    """Return, per row, the sum of the sizes before it in its frame.

    `carried` is the sum of the part of the first frame that was in earlier batches.
    """
    before = np.cumsum(sizes) - sizes + carried
    base = np.where(starts, before, 0)
    np.maximum.accumulate(base, out=base)
    sums: np.ndarray = before - base
    return sums

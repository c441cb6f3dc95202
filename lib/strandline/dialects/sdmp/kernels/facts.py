"""Elements to line facts: form, hash, claim and segment of each, in one pass in the order of the stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.kernels.elements import TEXT_FRAME

MALFORMED, MISPLACED, NON_CANONICAL, MISMATCH, NOT_HELD = 1, 2, 4, 8, 16
"""Bits of `code`, the failed checks of one element; 0 is a candidate for acceptance. The last one needs tables."""

LINE_FACTS: Final = pa.schema(
    {
        "code": pa.int8(), "hash": pa.string(), "idx": pa.int64(), "head": pa.int64(), "expected": pa.string(),
        "before": pa.binary(), "border": pa.bool_(), "local": pa.int64(),
    }
)  # fmt: skip
"""Facts of one element: the failed checks; H(line) if it has a form; its index in its frame (text: in its part);
the index of the head of its segment; on a mismatch the claim and the line before; `border`: the claim is in the part
before; `local`: bytes of the part before it."""

Columns = tuple[pd.Series, ...]


def line_facts(
    batches: Iterable[Columns], *, strict: bool, tally: Callable[[int], object] | None = None
) -> Iterator[pd.DataFrame]:
    """Yield the facts of LINE_FACTS for (file_no, part, frame, node, raw, damage, claim, size), in order.

    A *segment* is a run of neighbours of one frame that passed every check, each the successor of the one before.
    The hash of the row before is carried from batch to batch, so neighbours must come in the order of the stream.

    `tally` is told the rows of each batch.

    These hold for an element of code 0 (node journal rules, checks 5 to 8):
    - it has one of the two line forms (MALFORMED_LINE);
    - a fingerprint stands first in its file or frame and equals the node (FIRST_LINE_MISPLACED);
    - strict, 0.12: the last character of every id is one of `AQgw` (NON_CANONICAL_ID);
    - its number is the hash of the element before it, where that one has a form (LINE_NUMBER_MISMATCH).
    """
    walk = _Walk(strict)
    for file_no, part, frame, node, raw, damage, claim, size in batches:
        starts = walk.starts(file_no.to_numpy(), part.to_numpy(), frame.to_numpy())
        if tally is not None:
            tally(len(file_no))
        yield walk.facts(starts, part, frame, node, raw, damage, claim, size)


class _Walk:
    """The state that one task carries along its rows."""

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._here: tuple[int, int, int] | None = None
        self._claim: str | None = None
        self._before: bytes | None = None
        self._index = 0
        """Index of the next element, if it begins no frame."""
        self._head = 0
        self._local = 0
        self._joined = False
        """True if the next element continues the segment: the one before passed all checks."""

    def starts(self, file_no: np.ndarray, part: np.ndarray, frame: np.ndarray) -> np.ndarray:
        """Return, per row, whether it begins another frame than the row before it."""
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
        """Return the facts of one batch and carry its end over."""
        count = len(raw)
        codes = np.zeros(count, dtype=np.int8)
        heads: list[int] = []
        hashes: list[str | None] = [None] * count
        expected: list[str | None] = [None] * count
        before: list[bytes | None] = [None] * count
        indexes = _running(np.ones(count, dtype=np.int64), starts, self._index)
        borders = starts & (frame.to_numpy() == TEXT_FRAME) & (part.to_numpy() > 0)
        lines, nodes, claims = raw.to_numpy(), node.to_numpy(), claim.to_numpy()
        rules = codec.rules_of(nodes[0]) if count else codec.NO_RULES
        chars = rules.id_chars
        head, carried, joined, previous = self._head, self._claim, self._joined, self._before
        rows = zip(lines, starts.tolist(), damage.notna().tolist(), borders.tolist(), strict=True)
        for row, (line, is_start, is_damage, is_border) in enumerate(rows):
            if is_start:
                rules = codec.rules_of(nodes[row])
                chars = rules.id_chars
                carried, joined, previous = claims[row], False, None
            if is_damage:
                carried, joined = None, False
                heads.append(head)
                continue
            code = 0
            if rules.link(line):
                if self._strict and not rules.canonical(line):
                    code = NON_CANONICAL
                if carried is not None and line[:chars] != carried.encode("ascii"):
                    code |= MISMATCH
                    expected[row], before[row] = carried, previous
            elif rules.first(line):
                if not is_start or is_border or str(line, "ascii") != nodes[row]:
                    code = MISPLACED
                elif self._strict and not rules.canonical(line):
                    code = NON_CANONICAL
            else:
                code = MALFORMED
            if code & (MALFORMED | MISPLACED):
                carried, joined = None, False
            else:
                hashes[row] = carried = rules.hash(line)
                if not joined:
                    head = int(indexes[row])
                joined = not code and not is_border
            previous = line
            if code:
                codes[row] = code
            heads.append(head)
        self._head, self._claim, self._joined, self._before = head, carried, joined, previous
        sizes = size.to_numpy()
        local = _running(sizes, starts, self._local)
        if count:
            self._index, self._local = int(indexes[-1]) + 1, int(local[-1] + sizes[-1])
        return pd.DataFrame(
            {
                "code": codes, "hash": hashes, "idx": indexes, "head": np.array(heads, dtype=np.int64),
                "expected": expected, "before": before, "border": borders, "local": local,
            }
        )  # fmt: skip


def _running(sizes: np.ndarray, starts: np.ndarray, carried: int) -> np.ndarray:
    """Return, per row, the sum of the sizes before it in its frame; `carried` is that of the frame cut by the batch."""
    before = np.cumsum(sizes) - sizes + carried
    base = np.where(starts, before, 0)
    np.maximum.accumulate(base, out=base)
    local: np.ndarray = before - base
    return local

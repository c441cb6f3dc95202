"""Blocks are judged one by one: a bug that one of them meets makes it wait, and no other."""

import hashlib

import pyarrow as pa

from strandline.kernels.blocks import (
    BLOCK_FIELDS,
    JUDGED_FIELDS,
    BlockPieces,
)
from strandline.kernels.containers import StreamLimits
from strandline.kernels.documents import read_lines
from strandline.kernels.judging import Judging, judged
from strandline.kernels.lines import RawLimits
from strandline.kernels.opened import Content
from strandline.kernels.pieces import Pieces, piece_schema
from strandline.kernels.reading import ReadOptions

OPTIONS = ReadOptions({}, StreamLimits(10**9, 100), RawLimits(10, 4))
FACTS = pa.schema([*JUDGED_FIELDS, pa.field("length", pa.int64())])


def judge(block, claims, options):
    """A judge with a bug: it cannot count to nothing."""
    return {"namespace": "chain:a", "length": 100 // len(block) * len(block) and len(block)}


def test_a_bug_that_a_block_meets_makes_it_wait_with_class_and_place_and_the_others_are_judged():
    rows = [
        {
            "judge_id": hashlib.sha256(block).digest(),
            "record_id": hashlib.sha256(block).digest(),
            "block": block,
        }
        for block in (b"one", b"", b"three")
    ]
    [found] = judged([pa.RecordBatch.from_pylist(rows)], Judging(judge, FACTS), OPTIONS)
    assert found.schema == FACTS
    one, fault, three = found.to_pylist()
    assert [(each["kind"], each["reasons"], each["length"]) for each in (one, three)] == [
        ("record", [], 3), ("record", [], 5),
    ]  # fmt: skip
    assert (fault["kind"], fault["reasons"], fault["length"]) == ("record", ["INTERNAL_ERROR"], None)
    assert "ZeroDivisionError" in fault["evidence"]
    assert "division" not in fault["evidence"]


def test_a_line_that_is_too_long_is_refused_and_a_bug_costs_the_line_that_meets_it():
    pieces = Pieces(BLOCK_FIELDS)
    adder = BlockPieces(7, 0, pieces, OPTIONS)

    def add(line):
        raw = line.kept.raw
        yield adder.put(
            "block", line.offset, adder.kept(raw), record_id=bytes([1000 // (len(raw) - 1) % 256])
        )

    content = Content(lambda: iter([b"ab\nx\n" + b"y" * 40 + b"\nlast" + b"z" * 30]))
    for _ in read_lines(content, adder, 20, add):
        pass
    [batch] = pieces.rest()
    assert batch.schema == piece_schema(BLOCK_FIELDS)
    rows = batch.to_pylist()
    assert [(row["frame"], row["offset"], row["kind"], row["damage"]) for row in rows] == [
        (0, 0, "block", None), (1, 3, None, "INTERNAL_ERROR"), (2, 5, None, "LINE_TOO_LARGE"),
        (3, 46, None, "LINE_TOO_LARGE,TRUNCATED"),
    ]  # fmt: skip
    assert [row["raw"] for row in rows] == [b"ab", b"x", b"yyyy", b"last"]
    assert [row["raw_bytes"] for row in rows] == [2, 1, 40, 34]

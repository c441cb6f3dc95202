"""Blocks are judged one by one: a bug that one of them meets makes it wait, and no other."""

import hashlib

import pyarrow as pa
import pytest

from strandline.kernels.blocks import BLOCK_FIELDS, JUDGED_FIELDS, BlockPieces, replayed
from strandline.kernels.codecs import StreamDamage
from strandline.kernels.containers import StreamLimits
from strandline.kernels.documents import read_lines, read_whole
from strandline.kernels.judging import Judging, judged
from strandline.kernels.lines import CappedBytes, RawLimits
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


def test_a_damage_that_a_step_meets_is_no_bug_and_nothing_is_added():
    pieces = Pieces(BLOCK_FIELDS)

    def steps():
        yield
        raise StreamDamage("TRUNCATED", "cut", 3)

    with pytest.raises(StreamDamage):
        list(BlockPieces(7, 0, pieces, OPTIONS).guarded(steps(), b"raw", 0))
    assert list(pieces.rest()) == []


@pytest.mark.parametrize("parts", [(b"x" * 20,), (b"x" * 13, b"x" * 7)])
def test_a_file_at_the_limit_is_parsed_whole_and_one_byte_more_refuses_it(parts):
    parsed = []

    def add(raw):
        parsed.append(raw)
        yield

    def rows(*blocks):
        pieces = Pieces(BLOCK_FIELDS)
        list(read_whole(Content(lambda: iter(blocks)), BlockPieces(7, 0, pieces, OPTIONS), 20, add))
        return [row for batch in pieces.rest() for row in batch.to_pylist()]

    assert (rows(*parts), parsed) == ([], [b"x" * 20])
    [over] = rows(*parts, b"x")
    assert (over["damage"], over["raw_bytes"], len(parsed)) == ("FILE_TOO_LARGE", 21, 1)


def test_a_row_that_is_judged_again_keeps_its_part_and_one_that_stays_its_whole_verdict():
    stays = {
        "file_no": 3, "part": 5, "namespace": "log:a", "raw": b"rest", "record_id": b"\x01" * 32,
        "reasons": "TRUNCATED", "evidence": '{"TRUNCATED":{}}',
    }  # fmt: skip
    again = stays | {"part": 8, "raw": b"again", "reasons": "BAD_AUTHOR"}

    def replay(row, pieces, options):
        BlockPieces(row["file_no"], 0, pieces, options).put("block", 0, CappedBytes(row["raw"], 5))
        yield

    [found] = replayed([pa.RecordBatch.from_pylist([stays, again])], replay, BLOCK_FIELDS, OPTIONS)
    kept, put = found.to_pylist()
    assert (kept["file_no"], kept["part"], kept["raw"], kept["kind"]) == (3, 5, b"rest", None)
    assert {name: kept[name] for name in ("namespace", "record_id", "evidence")} == {
        name: stays[name] for name in ("namespace", "record_id", "evidence")
    }
    assert kept["damage"] == "TRUNCATED"
    assert (put["part"], put["raw"], put["kind"], put["damage"]) == (8, b"again", "block", None)

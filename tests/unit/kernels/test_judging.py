"""Blocks that are judged while their file is read, within a limit for each task; all else is left as it was read."""

import hashlib
import weakref
from dataclasses import replace

import pyarrow as pa
import pytest

from strandline.kernels.blocks import BLOCK_FIELDS, JUDGED_FIELDS, BlockPieces
from strandline.kernels.containers import StreamLimits
from strandline.kernels.documents import read_lines
from strandline.kernels.judging import JUDGED_TOGETHER, PREFIX, JudgedPieces, Judging, judged, read_judged
from strandline.kernels.lines import CappedBytes, RawLimits
from strandline.kernels.pieces import piece_schema
from strandline.kernels.reading import LISTED, ReadOptions, read_files

FACTS = pa.schema([*JUDGED_FIELDS, pa.field("length", pa.int64()), pa.field("words", pa.list_(pa.string()))])
OPTIONS = ReadOptions({}, StreamLimits(10**9, 100), RawLimits(10**6, 4))
LINES = [b"one", b"claim", b"two words", b"bug", b"refused", b"three words here", b"x" * 30]


def judge(block, claims, options):
    """Counts; `other` is what the reader of the file states and no column holds."""
    if block == b"bug":
        raise ZeroDivisionError
    words = block.decode().split()
    return {"namespace": "chain:a", "length": len(block), "words": words, "evidence": claims.get("other")}


def read_content(source, content, pieces, options):
    adder = BlockPieces(source.file_no, content.part, pieces, options)

    def add(line):
        raw = line.kept.raw
        digest = hashlib.sha256(raw).digest()
        if raw == b"claim":
            adder.put("claim", line.offset, adder.kept(b""), record_id=digest)
        elif raw == b"refused":
            adder.refuse(("JSON_INVALID",), {}, line.kept, line.offset)
        else:
            stated = {"record_id": digest, "judge_id": digest, "namespace": "chain:stated"}
            adder.put("block", line.offset, adder.kept(raw), other="said", **stated)
        yield

    return read_lines(content, adder, 1000, add)


def read(kernel, *more, tally=None):
    options = replace(OPTIONS, tally=tally)
    row = {"file_no": 7, "format": "lines", "path": b"", "content": b"\n".join(LINES), "part": 0}
    listed = pa.RecordBatch.from_pylist([row], LISTED)
    return pa.Table.from_batches(kernel([listed], options, read_content, BLOCK_FIELDS, *more))


def of_piece(row):
    return {name: member for name, member in row.items() if not name.startswith(PREFIX)}


def test_blocks_are_judged_as_they_are_read_and_their_documents_are_those_of_other_readers():
    tallied = []
    found = read(read_judged, Judging(judge, FACTS), tally=tallied.append)
    assert found.schema == piece_schema((*BLOCK_FIELDS, *Judging(judge, FACTS).fields()))
    rows = found.to_pylist()
    assert [of_piece(row) for row in rows] == read(read_files).to_pylist()
    assert tallied == [7]
    assert [row["judged_words"] for row in rows] == [
        ["one"], None, ["two", "words"], None, None, ["three", "words", "here"], ["x" * 30],
    ]  # fmt: skip
    assert [row["judged_kind"] for row in rows] == [
        "record",
        None,
        "record",
        "record",
        None,
        "record",
        "record",
    ]
    assert [row["judged_record_id"] for row in rows] == [
        None if row["judged_kind"] is None else hashlib.sha256(row["raw"]).digest() for row in rows
    ]
    assert {row["judged_namespace"] for row in rows} == {"chain:a", None}
    # What met the bug waits by itself.
    assert [row["judged_reasons"] for row in rows] == [[], None, [], ["INTERNAL_ERROR"], None, [], []]
    assert "ZeroDivisionError" in rows[3]["judged_evidence"]
    # A judge in the same task also reads what no column holds.
    assert rows[0]["judged_evidence"] == "said"


@pytest.mark.parametrize("most", [31, 33])  # 31 are those of the blocks that are judged
def test_a_task_judges_so_many_bytes_and_leaves_the_other_blocks_to_a_later_one(most):
    rows = read(read_judged, Judging(judge, FACTS, most)).to_pylist()
    assert [row["judged_kind"] is not None for row in rows] == [True, False, True, True, False, True, False]
    assert [of_piece(row) for row in rows] == read(read_files).to_pylist()


class Parsed:
    """What a reader may keep of a document: values that take far more memory than its bytes."""


def test_what_a_reader_states_is_released_long_before_a_batch_is_full():
    pieces = JudgedPieces(BLOCK_FIELDS, Judging(lambda *_: {}, FACTS), OPTIONS)
    block, stated = b"x" * (JUDGED_TOGETHER // 8), []
    for _ in range(100):
        parsed = Parsed()
        stated.append(weakref.ref(parsed))
        pieces.add(0, 0, 0, 0, 0, CappedBytes(block, len(block)), kind="block", record_id=b"", other=parsed)
        del parsed
        assert sum(each() is not None for each in stated) <= 8
    [batch] = pieces.rest()
    assert (batch.num_rows, batch["judged_kind"].null_count) == (100, 0)


def test_no_blocks_have_no_facts():
    rows = pa.RecordBatch.from_pylist([], pa.schema([("block", pa.binary())]))
    assert list(judged([rows], Judging(judge, FACTS), OPTIONS)) == []

"""Chunks of text journals: the same lines as read one by one, and judged and shaped as these."""

import gzip
import random
from functools import partial

import pandas as pd
import pyarrow as pa
import pytest

from strandline.core.ids import bucket_of
from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.kernels import (
    CHUNK_FRAME,
    ELEMENT_FIELDS,
    TEXT_FRAME,
    ChunkRules,
    chunk_lines,
    line_facts,
    read_content,
)
from strandline.dialects.sdmp.kernels.chunk_rows import ACCEPTED_SCHEMA, accepted_lines
from strandline.dialects.sdmp.kernels.chunks import FIRST_LINE_BYTES, Judged, has_line_ends, judge_chunk
from strandline.dialects.sdmp.types import line_hash
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import LISTED, ReadOptions, read_files
from support import random_journals

NODE = synthetic_id("node", 0)
J = list(synthetic(0, 9))
TEXT = codec.render(J)
MARK = b"\xef\xbb\xbf"
WIDE = StreamLimits(2**36, 100)
LONG = b"a" * 3000

TEXTS = {
    "whole": TEXT,
    "with LF": TEXT + b"\n",
    "mark": MARK + TEXT,
    "CRLF": TEXT.replace(b"\n", b"\r\n"),
    "one CR": TEXT.replace(b"\n", b"\r\n", 1),
    "CR in the place of the last character": codec.render([*J[:4], J[4][:-1] + b"\r", *J[5:]]),
    "CR as last byte of a file": codec.render([*J[:8], J[8][:-1] + b"\r"]),
    "empty lines": TEXT + b"\n\n\n",
    "empty line inside": codec.render([*J[:4], b"", *J[4:]]),
    "short line": codec.render([*J[:4], J[4][:-1], *J[5:]]),
    "long line": codec.render([*J[:4], LONG, *J[4:]]),
    "long line last": codec.render([*J[:4], LONG]),
    "cut": TEXT[:-7],
    "second journal": TEXT + b"\n" + TEXT,
    "line 1 alone": J[0],
    "line 1 and LF": J[0] + b"\n",
    "two lines": codec.render(J[:2]),
    "0.12": codec.render(synthetic(3, 6, "0.12")),
    "other bytes": codec.render([*J[:3], b"\xff" * len(J[3]), *J[4:]]),
    "line 1 wrong": b"x" + TEXT,
}


def options(strict: bool = False, stream: StreamLimits = WIDE, tally=None) -> ReadOptions:
    choices = {"strict": "strict" if strict else "weak"}
    return ReadOptions(lake_options=choices, stream=stream, keep=RawLimits(1024, 64), tally=tally)


def pieces(
    data: bytes, lines: int, *, ends=None, but=(), strict: bool = False, tally=None, stream=WIDE
) -> list[dict]:
    """The pieces of a file, or of its splits at `ends`, in chunks of at most `lines` lines."""
    rows = [(0, None, b"", data, 0, None, None)]
    if ends:
        label = codec.node_of_line(data.removeprefix(MARK).partition(b"\n")[0].removesuffix(b"\r"))
        rows = [
            (0, None, b"", data, start, end, label)
            for start, end in zip([0, *ends], [*ends, len(data)], strict=True)
        ]
    batches = [
        pa.RecordBatch.from_pylist([dict(zip(LISTED.names, row, strict=True)) for row in rows], LISTED)
    ]
    read = partial(read_content, chunks=ChunkRules(lines, but))
    found = read_files(batches, options(strict, stream, tally), read, ELEMENT_FIELDS)
    return [row for batch in found for row in batch.to_pylist()]


def opened(rows: list[dict]) -> list[dict]:
    """The pieces with the lines of chunks in the place of these."""
    found = []
    for row in rows:
        if row["frame"] != CHUNK_FRAME:
            found.append(row)
            continue
        chosen = {name: row[name] for name in ("file_no", "part", "offset", "size", "raw", "node")}
        lines = chunk_lines([pa.RecordBatch.from_pylist([chosen])], frame=TEXT_FRAME, fields=ELEMENT_FIELDS)
        found += [line for batch in lines for line in batch.to_pylist()]
    return found


def told(rows: list[dict]) -> list[tuple]:
    """Every piece with its place in the file, in the order of the file."""
    at, found = {}, []
    for row in rows:
        is_text = row["frame"] == TEXT_FRAME and row["damage"] is None
        before = at.get((row["part"], row["frame"]), 0) if is_text else 0
        kept = (row["raw"], row["raw_bytes"], row["raw_sha256"], row["damage"], row["evidence"])
        found.append((row["offset"] + before, row["size"], row["node"], *kept))
        if is_text:
            at[row["part"], row["frame"]] = before + row["size"]
    return sorted(found, key=lambda each: each[0])


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", TEXTS)
def test_chunks_have_the_lines_of_the_file(name: str, strict: bool) -> None:
    data = TEXTS[name]
    single = told(pieces(data, 0, strict=strict))
    for lines in (1, 2, 3, 100):
        assert told(opened(pieces(data, lines, strict=strict))) == single
        assert told(opened(pieces(gzip.compress(data), lines, strict=strict))) == single


@pytest.mark.large
@pytest.mark.parametrize("name", [name for name in TEXTS if name not in ("line 1 wrong", "line 1 alone")])
def test_splits_at_any_byte_have_the_lines_of_the_file(name: str) -> None:
    data = TEXTS[name]
    single = told(pieces(data, 0))
    for lines in (0, 1, 3, 100):
        for end in range(1, len(data), 1 if lines == 3 else 13):
            assert told(opened(pieces(data, lines, ends=[end]))) == single, (lines, end)
        for step in (64, 195, 500):
            assert told(opened(pieces(data, lines, ends=list(range(step, len(data), step))))) == single, (
                lines,
                step,
            )


def test_parts_are_the_places_of_their_first_lines() -> None:
    rows = pieces(TEXT, 3)
    assert [(row["frame"], row["part"], row["raw"].count(b"\n")) for row in rows] == [
        (CHUNK_FRAME, 0, 4), (CHUNK_FRAME, 65 + 3 * 195, 3), (CHUNK_FRAME, 65 + 6 * 195, 2),
    ]  # fmt: skip
    assert sum(row["size"] for row in rows) == len(TEXT)
    assert [row["part"] for row in pieces(MARK + TEXT, 3)][:2] == [0, 3 + 65 + 3 * 195]


def test_from_the_first_irregular_line_on_lines_are_single() -> None:
    rows = pieces(TEXTS["empty line inside"], 2)
    assert [(row["frame"], row["part"]) for row in rows[:2]] == [(CHUNK_FRAME, 0), (TEXT_FRAME, 65 + 2 * 195)]
    assert {row["part"] for row in rows[1:]} == {65 + 2 * 195}


def test_the_nodes_that_rules_exclude_have_no_chunks() -> None:
    assert {row["frame"] for row in pieces(TEXT, 3, but=(NODE,))} == {TEXT_FRAME}
    assert {row["frame"] for row in pieces(TEXTS["0.12"], 3)} == {TEXT_FRAME}


def test_progress_counts_lines() -> None:
    counted = []
    pieces(TEXT, 3, tally=counted.append)
    assert sum(counted) == len(J)


def test_what_a_limit_of_the_stream_leaves_is_the_same() -> None:
    packed = gzip.compress(TEXT)
    for size in range(0, len(TEXT), 50):
        limit = StreamLimits(size, 10**6)
        single = told(pieces(packed, 0, stream=limit))
        assert single[-1][6] == "BOMB"
        for lines in (1, 3, 100):
            assert told(opened(pieces(packed, lines, stream=limit))) == single, (size, lines)


@pytest.mark.large
def test_random_files_have_the_same_lines_in_chunks() -> None:
    rng = random.Random(5)
    files = [content for run in random_journals.corpus(17, 60, 1) for content in run.values()]
    for content in files:
        at = rng.randrange(len(content) + 1)
        for data in (
            content,
            content[:at],
            content.replace(b"\n", b"\r\n", 1),
            content[:at] + b"\r" + content[at + 1 :],
        ):
            lines, strict = rng.choice((1, 2, 5)), rng.random() < 0.5
            assert told(opened(pieces(data, lines, strict=strict))) == told(pieces(data, 0, strict=strict)), (
                data
            )


def facts(chunk: bytes) -> pd.DataFrame:
    """The facts of the lines of a chunk, judged one by one."""
    lines = chunk[:-1].split(b"\n")
    text = [NODE] * len(lines)
    nothing = pd.Series([None] * len(lines), dtype=object)
    numbers = pd.Series([0] * len(lines))
    columns = (
        numbers, numbers, numbers + TEXT_FRAME, pd.Series(text, dtype=object), pd.Series(lines, dtype=object), nothing,
        nothing, pd.Series([len(line) + 1 for line in lines]),
    )  # fmt: skip
    return pd.concat(line_facts([columns], strict=False), ignore_index=True)


def chunk_facts(chunk: bytes, part: int) -> dict:
    one = ([0], [part], [CHUNK_FRAME], [NODE], [chunk], [None], [None], [len(chunk)])
    columns = tuple(
        pd.Series(values, dtype=object if at in (3, 4, 5, 6) else "int64") for at, values in enumerate(one)
    )
    [found] = line_facts([columns], strict=False)
    return found.astype(object).where(found.notna(), None).to_dict("records")[0]


HEAD, LATER = TEXT + b"\n", codec.render(J[3:]) + b"\n"


@pytest.mark.large
@pytest.mark.parametrize("chunk", [HEAD, LATER, HEAD[: FIRST_LINE_BYTES + 195], LATER[:195]])
def test_a_chunk_is_regular_if_each_of_its_lines_passes(chunk: bytes) -> None:
    rng = random.Random(3)
    lines = chunk.count(b"\n")
    number = None if chunk.startswith(J[0]) else J[3][:64].decode()
    last = chunk[:-1].rpartition(b"\n")[2]
    assert judge_chunk(chunk) == Judged(lines, number, line_hash(last, "0.9"))
    first = FIRST_LINE_BYTES if number is None else 0
    for _ in range(300):
        mutated = bytearray(chunk)
        # Line 1 names the node: a change there makes another node.
        mutated[rng.randrange(first, len(chunk))] = rng.choice(b"0123456789abcdefABCDEFg@/ \x00\xff")
        mutated = bytes(mutated)
        if not has_line_ends(mutated, first):
            continue
        each = facts(mutated)
        judged = judge_chunk(mutated)
        assert (judged is not None) == (each["code"] == 0).all()
        if judged is not None:
            assert judged.last_hash == each["hash"].iloc[-1]


def test_a_changed_line_end_is_seen_before_the_lines_are_judged() -> None:
    for at in range(FIRST_LINE_BYTES, len(HEAD)):
        mutated = HEAD[:at] + b"\n" + HEAD[at + 1 :]
        assert has_line_ends(mutated, FIRST_LINE_BYTES) == (mutated == HEAD)
    for at in [at for at in range(FIRST_LINE_BYTES, len(HEAD)) if HEAD[at] == 10]:
        assert not has_line_ends(HEAD[:at] + b"0" + HEAD[at + 1 :], FIRST_LINE_BYTES)


def test_the_facts_of_a_chunk_are_those_of_its_ends() -> None:
    found = chunk_facts(LATER, 700)
    last = facts(LATER).iloc[-1]
    assert (found["code"], found["hash"], found["idx"], found["head"]) == (0, last["hash"], last["idx"], 0)
    assert (found["expected"], found["border"]) == (J[3][:64].decode(), True)
    assert (chunk_facts(HEAD, 0)["expected"], chunk_facts(HEAD, 0)["border"]) == (None, False)
    broken = chunk_facts(LATER.replace(b"@", b"/", 1), 700)
    assert (broken["code"], broken["hash"], broken["idx"]) == (32, None, 0)


@pytest.mark.large
def test_the_rows_of_placed_chunks() -> None:
    journals = {number: list(synthetic(number, lines)) for number, lines in ((1, 2), (2, 7), (3, 20_000))}
    given, expected = [], []
    for number, lines in journals.items():
        node = f"node:{synthetic_id('node', number)}"
        bucket, source = bucket_of(node, 16), None if number == 2 else f"file {number}"
        of_chunk = 9_000 if number == 3 else 3
        for start in range(0, len(lines), of_chunk):
            part = lines[start : start + of_chunk]
            given.append(
                {"raw": codec.render(part) + b"\n", "last_hash": line_hash(part[-1], "0.9"), "namespace": node,
                 "bucket": bucket, "n": start + 1, "source": source}
            )  # fmt: skip
        for n, line in enumerate(lines, 1):
            named = line_hash(line, "0.9")
            ids = (None, None, None) if n == 1 else (line[:64], line[65:129], line[130:])
            claimed, author, resource = (None if each is None else each.decode() for each in ids)
            first = (node, bucket, bytes.fromhex(named), "0.9", n)
            expected.append((*first, claimed, named, author, resource, "received", source))
    batches = [pa.RecordBatch.from_pylist(given[:2]), pa.RecordBatch.from_pylist(given[2:])]
    found = pa.Table.from_batches(list(accepted_lines(batches)), ACCEPTED_SCHEMA)
    found.validate(full=True)
    assert list(zip(*(column.to_pylist() for column in found.columns), strict=True)) == expected
    assert list(accepted_lines([])) == []

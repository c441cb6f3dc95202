"""Files to elements of journals: the kernel that streams agrees with the reference that holds a whole file."""

import gzip
import hashlib
import io
import itertools
import json
import random
import tracemalloc
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import itemgetter

import pyarrow as pa
import pytest

from strandline.core.verdict import encode_evidence
from strandline.dialect_api.ports import PlainFile
from strandline.dialects.sdmp import codec, verify
from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.kernels import (
    ELEMENT_FIELDS,
    NO_CHUNKS,
    ChunkRules,
    elements,
    facts,
    read_content,
    rejections,
)
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.dialects.sdmp.types import Announcement, Unreadable
from strandline.kernels.codecs import BLOCK_BYTES, StreamDamage
from strandline.kernels.containers import StreamLimits, blocks
from strandline.kernels.lines import RawLimits
from strandline.kernels.opened import Content
from strandline.kernels.pieces import DAMAGE_FRAME, Pieces
from strandline.kernels.reading import LISTED, ReadOptions, Source, read_files
from support import random_journals

MARK = b"\xef\xbb\xbf"
NODE = synthetic_id("node", 0)
J = list(synthetic(0, 5))
TEXT = codec.render(J)
FRAME = codec.batch(NODE, NODE, J)
LIKE_BZIP2, LIKE_TAR = "BZh" + "A" * 83, "-" * 40 + "ustar" + "A" * 41
LIKE_TAR_FRAME = codec.batch(LIKE_TAR, LIKE_TAR, [LIKE_TAR.encode()])

WIDE = StreamLimits(2**36, 100)


def options(strict: bool = False, stream: StreamLimits = WIDE, **keep: int) -> ReadOptions:
    kept = RawLimits(keep.get("whole", 4 << 20), keep.get("head", 64 << 10))
    return ReadOptions(lake_options={"strict": "strict" if strict else "weak"}, stream=stream, keep=kept)


def pieces(
    *files: bytes, splits=None, strict: bool = False, stream=WIDE, chunks: ChunkRules = NO_CHUNKS, **keep: int
) -> list[dict]:
    """The pieces of files, or of splits (start, end) of the first of them."""
    rows = [(number, None, b"", content, 0, None, None) for number, content in enumerate(files)]
    if splits:
        rows = [(0, None, b"", files[0], start, end, None) for start, end in splits]
    batches = [
        pa.RecordBatch.from_pylist([dict(zip(LISTED.names, row, strict=True))], LISTED) for row in rows
    ]
    read = partial(read_content, chunks=chunks)
    found = read_files(batches, options(strict, stream, **keep), read, ELEMENT_FIELDS)
    return [row for batch in found for row in batch.to_pylist()]


def told(rows: list[dict]) -> list[tuple]:
    """What the verdicts depend on, in the order of the file."""
    return [(row["node"], row["since"], row["raw"], row["damage"], row["evidence"]) for row in rows]


def expected(data: bytes, *, strict: bool = False) -> list[tuple]:
    """The same, of the reference."""
    source = codec.parse_source(data, strict=strict)
    found = [(offset, frame) for offset, frame in source.frames]
    found += [(damage.offset, damage) for damage in source.damages]
    rows: list[tuple] = []
    for _, each in sorted(found, key=lambda pair: pair[0]):
        if isinstance(each, Unreadable):
            rows.append(_damage(each))
        elif isinstance(each, Announcement):
            rows += [_damage(refused) for refused in verify.refused_announcement(each)]
        else:
            rows += [(each.node, each.since, element, None, None) for element in each.elements]
    return rows


def _damage(damage: Unreadable) -> tuple:
    return damage.node, None, damage.raw, ",".join(damage.reasons), encode_evidence(damage.evidence)


SOURCES = {
    "text": TEXT,
    "text and LF": TEXT + b"\n",
    "text with CRLF": TEXT.replace(b"\n", b"\r\n") + b"\r\n",
    "two CR": TEXT.replace(b"\n", b"\r\r\n"),
    "lone CR": TEXT.replace(b"\n", b"\r"),
    "mark": MARK + TEXT,
    "two marks": MARK + MARK + TEXT,
    "mark alone": MARK,
    "mark and LF": MARK + b"\n",
    "0 bytes": b"",
    "1 byte": b"\xef",
    "empty lines": TEXT + b"\n\n\n",
    "LF first": b"\n" + TEXT,
    "white space": b" \t\r\n\x0b\x0c",
    "long line": TEXT + b"\n" + b"a" * 2000 + b"\n" + J[1],
    "second journal": TEXT + b"\n" + TEXT,
    "not UTF-8": TEXT + b"\n\xff\xfe\n" + J[4],
    "line 1 alone": J[0],
    "frames": FRAME + b"\n" + FRAME + b"\n",
    "frame without LF": FRAME,
    "frames after white space": b"\x0b \r\n\t\n" + FRAME,
    "mark and frames": MARK + b"\n " + FRAME,
    "blank lines": FRAME + b"\n\n \t\r\n" + FRAME + b"\r\n\n",
    "cut frame": FRAME + b"\n" + FRAME[:-1],
    "cut frame and LF": FRAME[:-1] + b"\n" + FRAME,
    "cut shape": FRAME + b'\n{"node":1}',
    "only a brace": b"{",
    "announcement": codec.announce(NODE, [(NODE, NODE)] * 3, 1) + b"\n" + FRAME,
    "empty frame": codec.batch(NODE, NODE, []),
    "bad node": b'{"node":"../../x","journal":{"since":"x","entries":["a"]}}\n' + FRAME,
    "duplicate member": b'{"node":1,"node":2}\n' + FRAME,
    "text below frames": FRAME + b"\n" + TEXT,
    "frame below text": TEXT + b"\n" + FRAME,
    "text that begins as bzip2": LIKE_BZIP2.encode() + b"\n" + J[0],
    "frames with the mark of tar": LIKE_TAR_FRAME + b"\n" + FRAME,
    "surrogate": b'{"node":"%s","journal":{"since":"%s","entries":["\\ud800"]}}' % (NODE.encode(), NODE.encode()),
}  # fmt: skip


def test_a_node_can_be_spelled_as_the_mark_of_a_container() -> None:
    assert LIKE_TAR_FRAME[257:262] == b"ustar"
    assert [codec.profile_of(node) for node in (LIKE_BZIP2, LIKE_TAR)] == ["0.12", "0.12"]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", SOURCES)
def test_kernel_and_reference_read_the_same(name: str, strict: bool) -> None:
    data = SOURCES[name]
    assert told(pieces(data, strict=strict)) == expected(data, strict=strict)
    assert told(pieces(gzip.compress(data), strict=strict)) == expected(data, strict=strict)


@pytest.mark.large
def test_kernel_and_reference_read_the_same_of_random_files_and_their_mutations() -> None:
    rng = random.Random(7)
    files = [content for run in random_journals.corpus(11, 60, 1) for content in run.values()]
    for content in files:
        mutated = bytearray(content)
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(mutated) + 1)
            mutated[at : at + rng.randrange(3)] = rng.choice(
                [b"", b"\n", b"\r", b"{", b'"', b"\xff", MARK, b"\\"]
            )
        for data in (content, bytes(mutated), content[: rng.randrange(len(content) + 1)]):
            strict = rng.random() < 0.5
            assert told(pieces(data, strict=strict)) == expected(data, strict=strict), data


def test_frames_keep_their_offset_and_text_where_it_begins() -> None:
    data = MARK + b"\n" + FRAME + b"\n\n" + FRAME
    starts = {row["offset"] for row in pieces(data)}
    assert starts == {4, 4 + len(FRAME) + 2}
    assert {row["offset"] for row in pieces(MARK + TEXT)} == {3}
    assert sum(row["size"] for row in pieces(MARK + TEXT)) == len(TEXT)


SPLIT = b"\n".join(
    [MARK + FRAME, b"", FRAME[:-1], codec.batch(NODE, NODE, []), b"  ", FRAME, b'{"a":1}', FRAME]
)


@pytest.mark.large
@pytest.mark.parametrize("data", [SPLIT, SPLIT + b"\n", SPLIT + b"\n\n"], ids=["no LF", "LF", "blank line"])
def test_a_file_of_frames_split_at_any_offset_gives_the_same_elements(data: bytes) -> None:
    whole = pieces(data)
    assert told(whole) == expected(data)
    offsets = [row["offset"] for row in whole]
    for cut in range(1, len(data), 41):
        found = pieces(data, splits=[(0, cut), (cut, len(data))])
        assert (told(found), [row["offset"] for row in found]) == (told(whole), offsets), cut
    ends = [at for at in range(len(data)) if data[at : at + 1] == b"\n"]
    for cut in {end + nudge for end in ends for nudge in (-1, 0, 1, 2)} & set(range(1, len(data))):
        assert told(pieces(data, splits=[(0, cut), (cut, len(data))])) == told(whole), cut


@pytest.mark.large
def test_a_file_of_frames_split_into_many_gives_the_same_elements() -> None:
    whole = told(pieces(SPLIT))
    for size in (1, 64, 193, 500, 1000):
        ends = [*range(0, len(SPLIT), size), len(SPLIT)]
        assert told(pieces(SPLIT, splits=list(pairwise(ends)))) == whole, size


@pytest.mark.parametrize(("label", "first"), [(None, FRAME), (NODE, TEXT)])
@pytest.mark.parametrize("chunks", [NO_CHUNKS, ChunkRules(4)])
def test_a_long_line_is_read_to_its_end_by_the_split_in_which_it_begins_alone(label, first, chunks) -> None:
    data = first + b"\n" + b"x" * 100_000 + b"\n" + first
    given = 0

    def begin(start: int):
        nonlocal given
        for at in range(start, len(data), 500):
            given += len(data[at : at + 500])
            yield data[at : at + 500]

    rows = Pieces(ELEMENT_FIELDS)
    for start in range(0, len(data), 1_000):
        part = Content(partial(begin, start), part=start, until=min(start + 1_000, len(data)))
        source = Source(0, lambda: io.BytesIO(data), label=label)
        for _ in read_content(source, part, rows, options(), chunks=chunks):
            pass
    assert given < 3 * len(data)
    found = [row["raw_bytes"] for batch in rows.rest() for row in batch.to_pylist()]
    assert found.count(100_000) == 1
    assert len(found) > 4


def test_a_cut_last_frame_is_never_left_to_splits() -> None:
    def form(data: bytes):
        return SDMP.split_format(PlainFile(None, data[:4096], lambda: data, options()))

    assert form(FRAME + b"\n" + FRAME).form == "frames"
    assert form(FRAME + b"\n" + FRAME[:-1]) is None
    assert form(TEXT).label == NODE


def test_a_damaged_stream_is_one_row_behind_what_came_before_it() -> None:
    packed = gzip.compress(TEXT + b"\n") + b"no member"
    *lines, damage = pieces(packed)
    assert [row["raw"] for row in lines] == J
    assert (damage["damage"], damage["frame"]) == ("CONTAINER_DAMAGED", DAMAGE_FRAME)
    assert damage["raw"] == packed
    assert damage["offset"] == len(TEXT) + 1


@pytest.mark.parametrize("chunks", [NO_CHUNKS, ChunkRules(2)], ids=["lines", "chunks"])
@pytest.mark.parametrize("pack", [gzip.compress, lambda data: pa.compress(data, "zstd", asbytes=True)])
def test_a_damage_sorts_behind_all_that_was_read_before_it(pack, chunks: ChunkRules) -> None:
    packed = pack(TEXT) + pack(b"\n" + J[1])[:-3]
    rows = pieces(packed, chunks=chunks)
    assert [row["damage"] for row in rows] == [None] * (len(rows) - 1) + ["TRUNCATED"]
    assert (len({row["part"] for row in rows[:-1]}) > 1) == (chunks != NO_CHUNKS)
    assert sorted(rows, key=itemgetter("part", "frame")) == rows


def before_damage(packed: bytes) -> tuple[bytes, list[tuple]]:
    """What a stream decompresses to, and its damage as it is told, if it has one."""
    found, met = [], None
    try:
        for block in blocks(io.BytesIO(packed), WIDE):
            found.append(block)  # noqa: PERF402  what came before the damage is wanted
    except StreamDamage as damage:
        met = damage
    content = b"".join(found)
    if met is None:
        return content, []
    evidence = {met.reason: {"cause": met.cause, "offset": len(content)}}
    return content, [(None, None, packed, met.reason, encode_evidence(evidence))]


def zstd(data: bytes) -> bytes:
    """Two frames, the first of which ends inside a line: of a small frame that is cut nothing is decompressed."""
    parts = data[: len(data) - 150], data[len(data) - 150 :]
    return b"".join(pa.compress(part, "zstd", asbytes=True) for part in parts)


PACK = {"gzip": gzip.compress, "zstd": zstd}
CUT = {
    "text": TEXT,
    "text with CRLF": TEXT.replace(b"\n", b"\r\n"),
    "mark": MARK + TEXT,
    "no journal": b"no journal\n" + TEXT,
    "frames": FRAME + b"\n" + FRAME + b"\n\n",
    "frame without LF": FRAME,
}


@pytest.mark.large
@pytest.mark.parametrize("pack", PACK.values(), ids=PACK.keys())
@pytest.mark.parametrize("data", CUT.values(), ids=CUT.keys())
def test_a_stream_cut_anywhere_is_what_the_reference_reads_before_the_cut_and_the_damage(data, pack) -> None:
    packed = pack(data)
    damaged, judged = 0, set()
    for end in range(4, len(packed)):
        content, damage = before_damage(packed[:end])
        assert told(pieces(packed[:end])) == expected(content) + damage, end
        damaged += len(damage)
        judged.add(len(expected(content)))
    assert damaged >= len(packed) - 5
    assert len(judged) > 1


@pytest.mark.parametrize("data", [TEXT, TEXT + b"\n", FRAME, FRAME + b"\n"])
def test_a_wrong_check_sum_behind_the_last_record_loses_none(data: bytes) -> None:
    packed = bytearray(gzip.compress(data))
    packed[-8] ^= 1
    *rows, damage = pieces(bytes(packed))
    assert told(rows) == expected(data)
    assert [row["raw"] for row in rows] == J
    assert damage["damage"] == "CONTAINER_DAMAGED"


@pytest.mark.parametrize(("start", "judged"), [(TEXT + b"\n", J), (FRAME + b"\n", J), (b"{", [])])
def test_the_line_in_which_a_limit_stops_the_reading_is_not_judged(start: bytes, judged: list[bytes]) -> None:
    packed = gzip.compress(start + b"b" * (3 << 20))
    rows = pieces(packed, stream=StreamLimits(2 << 20, 100))
    assert [row["raw"] for row in rows[:-1]] == judged
    assert rows[-1]["damage"] == "BOMB"


def frames_behind(space: bytes) -> bytes:
    return space + FRAME + b"\n" + FRAME[:-1]


SPACE = 5 << 18
SPACED = {
    "frames behind blank lines": frames_behind(b" \t\r\n" * (SPACE // 4)),
    "frames behind one blank line": frames_behind(b" " * SPACE + b"\n"),
    "a frame behind blanks": frames_behind(b" " * SPACE),
    "a mark, blanks and frames": frames_behind(MARK + b"\n" * SPACE),
    "a blank line over the limit of a frame": frames_behind(b" " * (codec.MAX_FRAME_BYTES + 1) + b"\n"),
    "text behind blanks": b" " * SPACE + TEXT,
    "text behind blank lines": MARK + b"\n" * SPACE + TEXT,
    "blanks alone": b" " * SPACE,
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", SPACED)
@pytest.mark.large
def test_kernel_and_reference_read_the_same_behind_megabytes_of_white_space(name: str, pack) -> None:
    data = SPACED[name]
    source = codec.parse_source(data)
    offsets = sorted(
        [damage.offset for damage in source.damages] + [at for at, frame in source.frames for _ in J]
    )
    rows = pieces(pack(data), whole=64 << 20)
    assert told(rows) == expected(data)
    assert [row["offset"] for row in rows] == offsets


@pytest.mark.parametrize("end", [b"", b"\n"], ids=["no LF", "LF"])
@pytest.mark.large
def test_kernel_and_reference_read_the_same_of_a_last_frame_over_the_limit(end: bytes) -> None:
    data = FRAME + b'\n{"node":"' + b"a" * codec.MAX_FRAME_BYTES + end
    rows = pieces(data, whole=64 << 20)
    assert told(rows) == expected(data)
    assert rows[-1]["damage"] == ("FRAME_TOO_LARGE" if end else "FRAME_TOO_LARGE,TRUNCATED")


@pytest.mark.large
def test_white_space_is_looked_through_in_bounded_memory() -> None:
    def begin():
        return itertools.chain(itertools.repeat(bytes([32]) * BLOCK_BYTES, 64), [FRAME])

    content = Content(begin)
    tracemalloc.start()
    try:
        assert content.first_mark() == b"{"
        read = sum(len(block) for block in content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert read == 64 * BLOCK_BYTES + len(FRAME)
    assert peak < 8 * BLOCK_BYTES


@pytest.mark.parametrize("data", [b"no journal\n", MARK + b"no journal\n", MARK + b"\n" + FRAME, MARK + TEXT])
def test_an_offset_is_one_of_the_decompressed_stream_its_mark_too(data: bytes) -> None:
    source = codec.parse_source(data)
    [offset] = [damage.offset for damage in source.damages] + [at for at, _ in source.frames]
    assert {row["offset"] for row in pieces(data)} == {offset}
    assert data[offset:].startswith((b"no journal", FRAME, TEXT))


def test_of_a_journal_without_line_1_the_damage_behind_it_is_told_too() -> None:
    packed = gzip.compress(b"no journal\n" + TEXT)
    first, damage = pieces(packed[:-3])
    assert (first["damage"], damage["damage"]) == ("FIRST_LINE_MALFORMED", "TRUNCATED")


def test_a_container_that_is_not_opened_is_one_row_with_the_bytes_of_the_file() -> None:
    data = b"PK\x03\x04" + bytes(100)
    [row] = pieces(data)
    assert (row["damage"], row["raw"], row["raw_bytes"]) == ("CONTAINER_UNSUPPORTED", data, len(data))


def test_of_a_large_bad_file_the_head_is_kept_and_all_of_it_told() -> None:
    data = b"no journal " * 1000
    [row] = pieces(data, whole=100, head=10)
    assert (row["raw"], row["raw_bytes"], row["damage"]) == (data[:10], len(data), "FIRST_LINE_MALFORMED")
    assert row["raw_sha256"] is not None


@pytest.mark.parametrize("tail", [bytes(9_000), bytes(900_000)])
def test_of_a_plain_file_over_the_limit_no_more_than_the_limit_is_read_or_told(tail: bytes) -> None:
    data, limit = TEXT + b"\n" + tail, len(TEXT) + 2_000
    damage = pieces(data, stream=StreamLimits(limit, 100), whole=100, head=10)[-1]
    assert (damage["damage"], damage["raw"], damage["raw_bytes"]) == ("BOMB", data[:10], limit)
    assert damage["raw_sha256"] == hashlib.sha256(data[:limit]).digest()
    damage = pieces(data, stream=StreamLimits(10, 100), whole=100, head=10)[-1]
    assert (damage["raw_bytes"], damage["raw_sha256"] is None) == (101, False)


def test_of_a_large_entry_of_a_frame_the_head_is_kept_and_all_of_it_told() -> None:
    [row] = pieces(codec.batch(NODE, NODE, [b"x" * 1000]), whole=1000, head=10)
    assert (row["raw"], row["raw_sha256"]) == (b"x" * 1000, None)
    [row] = pieces(codec.batch(NODE, NODE, [b"x" * 1000]), whole=999, head=10)
    assert (row["raw"], row["raw_bytes"]) == (b"x" * 10, 1000)
    assert row["raw_sha256"] == hashlib.sha256(b"x" * 1000).digest()


def verdict_of(row: dict, *, code: int = 0, position: int = 1) -> dict:
    """The verdict on an element of which these checks failed."""
    described = {"idx": 0, "hash": None, "source_offset": 0, "expected": None, "before": None}
    batch = pa.RecordBatch.from_pylist([{**row, **described, "code": code, "position": position}])
    [verdict] = next(rejections([batch])).to_pylist()
    return verdict


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"], ids=["no LF", "LF", "CRLF"])
@pytest.mark.parametrize("length", [0, 1_023, 1_024, 1_025, 5_000])
def test_the_cause_is_that_of_all_bytes_however_few_of_them_are_kept(length: int, end: bytes, strict) -> None:
    bad = b"x" * length + end
    [row] = pieces(bad, strict=strict, whole=1_024, head=1_024) or [{"evidence": None}]
    assert [row["evidence"]] == ([each[4] for each in expected(bad, strict=strict)] or [None])
    data = J[0] + b"\n" + bad
    source = codec.parse_source(data, strict=strict)
    [(_, frame)] = source.frames
    judged = verify.judge(NODE, [frame], strict=strict).verdicts[1:]
    rows = pieces(data, strict=strict, whole=1_024, head=1_024)[1:]
    found = [verdict_of(row, code=facts.MALFORMED, position=2)["evidence"] for row in rows]
    assert found == [encode_evidence(each.evidence) for each in judged]


def test_an_error_of_ours_is_a_row_that_waits_for_the_next_rules(monkeypatch) -> None:
    def broken(raw: bytes):
        raise ZeroDivisionError("holds data that nobody may see")

    monkeypatch.setattr(elements.codec, "parse_frame", broken)
    [row] = pieces(FRAME)
    assert (row["damage"], row["raw"]) == ("INTERNAL_ERROR", FRAME)
    verdict = verdict_of(row)
    assert (verdict["status"], verdict["reasons"], verdict["waits_for"]) == (
        "deferred",
        "INTERNAL_ERROR",
        "rules:2",
    )
    [evidence] = json.loads(verdict["evidence"]).values()
    assert evidence["class"] == "ZeroDivisionError"
    assert "data" not in verdict["evidence"]


def test_what_is_read_is_counted_batch_by_batch():
    counted = []
    tallied = replace(options(), tally=counted.append)
    row = dict(zip(LISTED.names, (0, None, b"", TEXT, 0, None, None), strict=True))
    batches = [pa.RecordBatch.from_pylist([row], LISTED)]
    found = list(read_files(batches, tallied, read_content, ELEMENT_FIELDS))
    assert counted == [batch.num_rows for batch in found]
    assert sum(counted) == len(J)

"""Blocks to lines: the same lines for any split into blocks, in memory that no line decides."""

import hashlib
import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.kernels.lines import CappedReader, RawLimits, StreamLine, stream_lines, without_mark
from support.laws import law
from support.memory import resident_bytes

KEEP = RawLimits(whole_bytes=8, head_bytes=3)
MARK = b"\xef\xbb\xbf"
LAW = law(60)


def lines_of(*parts: bytes, limit: int = 12, offset: int = 0) -> list[StreamLine]:
    return list(stream_lines(parts, limit=limit, keep=KEEP, offset=offset))


def raws(*parts: bytes) -> list[bytes]:
    return [line.kept.raw for line in lines_of(*parts, limit=100)]


def test_what_stands_before_each_lf_is_a_line_and_what_follows_the_last_if_it_is_not_empty() -> None:
    assert raws(b"a\n\nb") == [b"a", b"", b"b"]
    assert raws(b"a\n") == [b"a"]
    assert raws(b"\n") == [b""]
    assert raws() == raws(b"") == []
    assert [line.ended for line in lines_of(b"a\nb")] == [True, False]


def test_a_cr_separates_nothing_and_stays() -> None:
    assert raws(b"a\rb\r\n\xff\x00\n") == [b"a\rb\r", b"\xff\x00"]


def test_offsets_count_from_the_start_that_is_given() -> None:
    assert [line.offset for line in lines_of(b"ab\n", b"\nc", offset=3)] == [3, 6, 7]


def test_a_line_at_the_limit_is_whole_and_one_over_it_is_read_on_to_its_lf() -> None:
    at, over, after = lines_of(b"123456789012\n", b"1234567890123\nz")
    assert (at.over_limit, over.over_limit, after.over_limit) == (False, True, False)
    assert (over.kept.raw, over.kept.length) == (b"123", 13)
    assert over.kept.sha256 == hashlib.sha256(b"1234567890123").digest()
    assert (after.kept.raw, after.offset) == (b"z", 13 + 14)


def test_a_line_over_the_limit_that_is_small_enough_is_kept_whole() -> None:
    [line] = lines_of(b"1234567", limit=5)
    assert line.over_limit
    assert line.kept.whole
    assert line.kept.raw == b"1234567"


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_line_at_the_limit_is_whole_however_it_is_split_into_blocks(cut: int) -> None:
    line = b"123456789012"
    for parts in (
        (line[:cut], line[cut:]),
        (line[:cut], line[cut:], b"\n"),
        (line[:cut], line[cut:] + b"\n"),
    ):
        [found] = lines_of(*parts)
        assert (found.over_limit, found.kept.length) == (False, 12)


content = st.lists(st.sampled_from([b"\n", b"a", b"\r", b"12345678901234567890", b"\xff", MARK])).map(
    b"".join
)


@LAW
@given(content, st.lists(st.integers(0, 60)))
def test_any_split_into_blocks_gives_the_same_lines(data: bytes, cuts: list[int]) -> None:
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    parts = [data[start:end] for start, end in pairwise(ends)]
    assert lines_of(*parts) == lines_of(data)


@LAW
@given(content)
def test_lines_put_together_again_are_the_content(data: bytes) -> None:
    found = list(stream_lines([data], limit=1000, keep=RawLimits(1000, 10)))
    assert b"".join(line.kept.raw + b"\n" * line.ended for line in found) == data
    assert [line.offset for line in found] == [
        sum(len(before.kept.raw) + 1 for before in found[:at]) for at in range(len(found))
    ]


@LAW
@given(content, st.lists(st.integers(0, 60)))
def test_a_mark_is_removed_once_at_the_start_however_it_is_split(data: bytes, cuts: list[int]) -> None:
    marked = MARK + data
    ends = sorted({min(cut, len(marked)) for cut in cuts} | {0, len(marked)})
    parts = [marked[start:end] for start, end in pairwise(ends)]
    assert b"".join(without_mark(parts)) == data


@LAW
@given(st.lists(st.binary(max_size=6), max_size=6))
def test_a_keeper_keeps_all_or_the_head_and_the_digest(parts: list[bytes]) -> None:
    keeper = CappedReader(KEEP)
    for part in parts:
        keeper.add(part)
    data, kept = b"".join(parts), keeper.kept()
    assert kept.length == len(data)
    if len(data) <= KEEP.whole_bytes:
        assert (kept.raw, kept.sha256) == (data, None)
    else:
        assert (kept.raw, kept.sha256) == (data[: KEEP.head_bytes], hashlib.sha256(data).digest())


@pytest.mark.parametrize("size", [7, 8, 9])
@pytest.mark.parametrize("step", range(1, 9))
def test_a_record_of_just_as_many_bytes_as_are_kept_whole_is_kept_whole(size: int, step: int) -> None:
    data, keeper = b"123456789"[:size], CappedReader(KEEP)
    for at in range(0, size, step):
        keeper.add(data[at : at + step])
    kept = keeper.kept()
    assert (kept.raw, kept.whole, kept.length) == (data if size <= 8 else b"123", size <= 8, size)


@pytest.mark.large
def test_a_line_of_64_mib_without_lf_takes_little_memory() -> None:
    block = random.Random(3).randbytes(1 << 20).replace(b"\n", b" ")

    def many() -> Iterator[bytes]:
        for _ in range(64):
            yield bytes(bytearray(block))
            grown.append(resident_bytes() - before)

    before, grown = resident_bytes(), []
    [line] = stream_lines(many(), limit=1 << 20, keep=RawLimits(4 << 20, 64 << 10))
    assert (line.over_limit, line.ended, line.kept.length) == (True, False, 64 << 20)
    assert len(line.kept.raw) == 64 << 10
    assert max(grown) < 32 << 20

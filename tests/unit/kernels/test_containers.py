"""Compressed and damaged streams: what comes before a damage stands, and no limit is overrun."""

import bz2
import gzip
import io
import random
import tarfile
import zlib

import pyarrow as pa
import pytest

from strandline.kernels import containers
from strandline.kernels.codecs import BLOCK_BYTES, Decoder, Gzip, StreamDamage, Zstd
from strandline.kernels.containers import StreamLimits, blocks, container_of
from support.memory import resident_bytes

WIDE = StreamLimits(decompressed_bytes=2**36, ratio=100)
TEXT = b"".join(b"line %d of a journal\n" % i for i in range(120))


def zstd(data: bytes) -> bytes:
    return pa.Codec("zstd").compress(data, asbytes=True)


def gz(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def tar(data: bytes) -> bytes:
    """A tar file of one file, whose name fills its field."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as opened:
        info = tarfile.TarInfo("n" * 100)
        info.size = len(data)
        opened.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def rest_of(data: bytes, at: int) -> io.BytesIO:
    """A stream whose first bytes were read."""
    stream = io.BytesIO(data)
    stream.seek(at)
    return stream


def opened(data: bytes, limits: StreamLimits = WIDE) -> tuple[bytes, str | None]:
    """Return the content as far as it was read, and the reason why not further."""
    content, reason, offset = bytearray(), None, 0
    try:
        for block in blocks(io.BytesIO(data), limits):
            assert 0 < len(block) <= BLOCK_BYTES
            content += block
    except StreamDamage as damage:
        reason, offset = damage.reason, damage.offset
    assert offset == (0 if reason in (None, "CONTAINER_NESTED") else len(content))
    return bytes(content), reason


@pytest.mark.parametrize("pack", [bytes, gz, zstd], ids=["plain", "gzip", "zstd"])
@pytest.mark.parametrize("size", [0, 1, 2, 511, 512, 513, BLOCK_BYTES + 700, 3 * BLOCK_BYTES])
def test_content_of_any_size_comes_out_whole(pack, size: int) -> None:
    data = random.Random(size).randbytes(size // 2).hex().encode() + b"x" * (size % 2)
    assert opened(pack(data)) == (data, None)


@pytest.mark.parametrize("head", [6, 1_000])
@pytest.mark.parametrize("size", [0, 300, BLOCK_BYTES + 700, 3 * BLOCK_BYTES])
@pytest.mark.parametrize(("pack", "codec"), [(gz, Gzip), (zstd, Zstd)], ids=["gzip", "zstd"])
def test_a_codec_has_taken_every_byte_when_its_content_has_come_out(
    pack, codec, size: int, head: int
) -> None:
    packed = pack(random.Random(size).randbytes(size)) * 2
    decoder = codec(packed[:head], rest_of(packed, head))
    seen = [(len(block), decoder.taken) for block in decoder]
    assert (sum(length for length, _ in seen), decoder.taken) == (2 * size, len(packed))
    assert [taken for _, taken in seen] == sorted(taken for _, taken in seen)


@pytest.mark.parametrize("pack", [gz, zstd])
def test_concatenated_members_are_one_stream(pack) -> None:
    assert opened(pack(TEXT) + pack(b"") + pack(b"more")) == (TEXT + b"more", None)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"PK\x03\x04", "zip"),
        (bz2.compress(TEXT), "bzip2"),
        (bz2.compress(b"", 1), "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
        (bytes(257) + b"ustar\x0000", "tar"),
        (tar(TEXT), "tar"),
    ],
    ids=["zip", "bzip2", "empty bzip2", "xz", "head of tar", "tar"],
)
def test_other_containers_are_told_by_their_first_bytes_and_not_opened(head: bytes, name: str) -> None:
    data = head + bytes(600)
    assert container_of(data) == ("unsupported", name)
    assert opened(data) == (b"", "CONTAINER_UNSUPPORTED")


@pytest.mark.parametrize("pack", [bytes, gz, zstd])
@pytest.mark.parametrize(
    "data",
    [
        b"BZh" + TEXT,
        b"BZh9" + TEXT,
        b"BZh0" + bz2.compress(TEXT)[4:],
        b"a" * 257 + b"ustar" + TEXT,
        b"a" * 257 + b"ustar\x0000" + bytes(600),
    ],
)
def test_a_mark_of_a_container_that_text_can_have_is_text(pack, data: bytes) -> None:
    assert opened(pack(data)) == (data, None)


@pytest.mark.parametrize("outer", [gz, zstd])
@pytest.mark.parametrize(
    "inner",
    [
        gz(TEXT),
        zstd(TEXT),
        gz(b""),
        b"PK\x03\x04",
        bz2.compress(TEXT),
        bytes(257) + b"ustar" + bytes(900),
        b"\x1f\x8b",
    ],
    ids=["gzip", "zstd", "empty gzip", "zip", "bzip2", "tar", "two bytes"],
)
def test_only_one_layer_is_opened_and_nothing_of_the_second_comes_out(outer, inner: bytes) -> None:
    assert opened(outer(inner)) == (b"", "CONTAINER_NESTED")


def test_a_second_layer_is_found_even_if_it_comes_out_byte_by_byte() -> None:
    codec = zlib.compressobj(wbits=31)
    tar = bytes(257) + b"ustar" + bytes(300)
    packed = b"".join(codec.compress(bytes([b])) + codec.flush(zlib.Z_FULL_FLUSH) for b in tar)
    assert opened(packed + codec.flush()) == (b"", "CONTAINER_NESTED")


@pytest.mark.parametrize("pack", [gz, zstd])
def test_a_cut_at_every_byte_is_noticed_and_what_came_before_it_stands(pack) -> None:
    packed = pack(TEXT)
    for cut in range(4, len(packed)):
        content, reason = opened(packed[:cut])
        assert reason == "TRUNCATED", cut
        assert TEXT.startswith(content)


def test_output_that_a_step_had_no_room_for_stands_before_a_cut() -> None:
    line = b"0123456789abcdef" * 12 + b"\n"
    # The step that takes the last of these bytes has an output of exactly BLOCK_BYTES.
    packed = gzip.compress((line * 20_000)[:3_000_000], 9, mtime=0)[:7649]
    assert opened(packed) == (zlib.decompressobj(31).decompress(packed), "TRUNCATED")


@pytest.mark.parametrize("pack", [gz, zstd])
def test_a_cut_in_the_second_member_keeps_all_of_the_first(pack) -> None:
    packed = pack(TEXT)
    content, reason = opened(packed + pack(TEXT)[:-1])
    assert reason == "TRUNCATED"
    assert content.startswith(TEXT)


@pytest.mark.parametrize("pack", [gz, zstd])
@pytest.mark.parametrize("tail", [b"x!!!", b"\x00" * 9, b"garbage behind the last member"])
def test_bytes_after_a_member_are_a_damage_and_cost_none_of_it(pack, tail: bytes) -> None:
    long = TEXT * 700
    assert opened(pack(long) + tail) == (long, "CONTAINER_DAMAGED")


def test_one_byte_after_a_gzip_member_is_a_damage() -> None:
    assert opened(gz(TEXT) + b"\x1f") == (TEXT, "CONTAINER_DAMAGED")


def test_a_failing_check_sum_costs_none_of_the_content() -> None:
    long = random.Random(1).randbytes(300_000).hex().encode()
    for at in (-8, -1):
        packed = bytearray(gz(long))
        packed[at] ^= 1
        assert opened(bytes(packed)) == (long, "CONTAINER_DAMAGED")


@pytest.mark.large
def test_every_flipped_bit_of_a_gzip_file_is_noticed_or_changes_no_content() -> None:
    packed = gz(TEXT)
    for at in range(len(packed)):
        for bit in range(8):
            flipped = bytearray(packed)
            flipped[at] ^= 1 << bit
            content, reason = opened(bytes(flipped))
            assert reason is not None or content in (TEXT, bytes(flipped))


def test_a_flipped_bit_of_a_zstd_file_ends_without_an_error_of_ours() -> None:
    packed = zstd(TEXT)
    for at in range(4, len(packed)):
        flipped = bytearray(packed)
        flipped[at] ^= 0x10
        assert opened(bytes(flipped))[1] in (None, "CONTAINER_DAMAGED", "TRUNCATED", "CONTAINER_NESTED")


def _zstd_with_window(log: int) -> bytes:
    # Magic, a frame header with a window descriptor, one raw block of one byte, the last.
    return b"\x28\xb5\x2f\xfd\x00" + bytes([(log - 10) << 3]) + b"\x09\x00\x00a"


def test_a_zstd_window_of_128_mib_is_read_and_a_larger_one_refused() -> None:
    assert opened(_zstd_with_window(27)) == (b"a", None)
    assert opened(_zstd_with_window(28)) == (b"", "CONTAINER_DAMAGED")
    assert opened(_zstd_with_window(31)) == (b"", "CONTAINER_DAMAGED")


@pytest.mark.parametrize("pack", [bytes, gz, zstd])
def test_no_more_bytes_than_the_limit_come_out(pack) -> None:
    data = TEXT * 2000
    content, reason = opened(pack(data), StreamLimits(decompressed_bytes=3 * BLOCK_BYTES, ratio=10**9))
    assert reason == "BOMB"
    assert len(content) <= 3 * BLOCK_BYTES
    assert data.startswith(content)
    assert opened(pack(data), StreamLimits(len(data), 10**9)) == (data, None)
    assert opened(pack(data), StreamLimits(len(data) - 1, 10**9))[1] == "BOMB"


@pytest.mark.parametrize("pack", [gz, zstd])
def test_a_stream_that_swells_too_much_is_a_bomb_once_the_free_bytes_came_out(pack, monkeypatch) -> None:
    monkeypatch.setattr(containers, "RATIO_FREE_BYTES", 2 * BLOCK_BYTES)
    swelling = pack(bytes(8 * BLOCK_BYTES))
    content, reason = opened(swelling, StreamLimits(2**36, 10))
    assert (len(content) <= 2 * BLOCK_BYTES, reason) == (True, "BOMB")
    assert opened(pack(bytes(BLOCK_BYTES)), StreamLimits(2**36, 10))[1] is None


def test_the_ratio_itself_is_no_bomb_and_one_byte_more_is(monkeypatch) -> None:
    class Fixed(Decoder):
        taken = 100

        def __iter__(self):
            return iter([b"x" * 600, b"x" * 400, b"x"])

    monkeypatch.setattr(containers, "RATIO_FREE_BYTES", 700)
    monkeypatch.setattr(containers, "_inner", lambda *_: Fixed())
    with pytest.raises(StreamDamage) as caught:
        list(blocks(io.BytesIO(gz(b"x")), StreamLimits(2**36, 10)))
    assert (caught.value.reason, caught.value.offset) == ("BOMB", 1000)


def test_a_bomb_takes_little_memory() -> None:
    bomb = zstd(bytes(200 * BLOCK_BYTES))
    before, sizes, grown = resident_bytes(), [], []

    def drain() -> None:
        for block in blocks(io.BytesIO(bomb), WIDE):
            sizes.append(len(block))
            grown.append(resident_bytes() - before)

    with pytest.raises(StreamDamage, match="BOMB"):
        drain()
    assert sum(sizes) <= 64 * BLOCK_BYTES
    assert max(grown) < 32 * BLOCK_BYTES


def test_a_failing_disk_is_no_damage_of_the_bytes() -> None:
    class Failing(io.BytesIO):
        def read(self, size=-1):
            if self.tell() >= 512:
                raise OSError(5, "Input/output error")
            return super().read(size)

    for pack in (gz, zstd):
        packed = pack(random.Random(2).randbytes(4000))
        with pytest.raises(OSError, match="Input/output error"):
            list(blocks(Failing(packed), WIDE))


@pytest.mark.parametrize("pack", [bytes, gz, zstd])
def test_a_stream_that_gives_its_bytes_one_by_one_is_read_as_any_other(pack) -> None:
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(1)

    packed = pack(random.Random(4).randbytes(1500).hex().encode()) + pack(b"more")
    assert b"".join(blocks(Slow(packed), WIDE)) == opened(packed)[0]


class CountedCodec:
    """A codec of zlib that counts what it is handed, and what is copied of it, bytes."""

    handed = copies = 0

    def __init__(self, codec) -> None:
        self._codec = codec

    def decompress(self, data: bytes, most: int) -> bytes:
        type(self).handed += len(data)
        return self._codec.decompress(data, most)

    def copy(self) -> "CountedCodec":
        type(self).copies += 1
        return CountedCodec(self._codec.copy())

    def __getattr__(self, name: str):
        return getattr(self._codec, name)


@pytest.mark.large
@pytest.mark.parametrize(
    ("content", "copies"),
    [(b"", 0), (b"x", 0), (random.Random(1).randbytes(2_000), 4)],
    ids=["0", "1", "2000"],
)
def test_small_members_are_handed_to_the_codec_about_once(content: bytes, copies: int, monkeypatch) -> None:
    real = zlib.decompressobj
    monkeypatch.setattr("strandline.kernels.codecs.zlib.decompressobj", lambda bits: CountedCodec(real(bits)))
    CountedCodec.handed = CountedCodec.copies = 0
    member = gz(content)
    count = 600_000 // len(member)
    assert opened(member * count) == (content * count, None)
    # A member takes 20 bytes at least, and its first step 512.
    assert CountedCodec.handed <= 30 * 600_000
    assert CountedCodec.handed <= 512 * count + 2 * 600_000
    # One member is cut where the first 512 bytes end, which tell the container.
    assert CountedCodec.copies <= copies * count + 1


@pytest.mark.large
@pytest.mark.parametrize("pack", [gz, zstd])
def test_small_members_come_as_large_blocks(pack) -> None:
    data = b"".join(pack(b"x") for _ in range(20_000))
    assert [len(block) for block in blocks(io.BytesIO(data), WIDE)] == [20_000]


def test_what_small_members_held_stands_before_a_damage() -> None:
    assert opened(gz(b"x") * 1_000 + b"rest") == (b"x" * 1_000, "CONTAINER_DAMAGED")
    assert opened(gz(b"x") * 1_000 + gz(b"y")[:-1]) == (b"x" * 1_000 + b"y", "TRUNCATED")

"""What the decompressed content of files is."""

import gzip
import hashlib
from pathlib import Path

import pyarrow as pa

from strandline.kernels.containers import StreamLimits
from strandline.kernels.contents import CONTENT_SCHEMA, contents

WIDE = StreamLimits(2**36, 100)
PATHS = pa.schema([("file_no", pa.int64()), ("path", pa.binary())])


def content_of(folder: Path, data: bytes, limits: StreamLimits = WIDE) -> tuple[int, str, str | None]:
    (folder / "f").write_bytes(data)
    batch = pa.RecordBatch.from_pylist([{"file_no": 7, "path": bytes(folder / "f")}], PATHS)
    [found] = contents([batch], limits)
    assert found.schema == CONTENT_SCHEMA
    [row] = found.to_pylist()
    assert row["file_no"] == 7
    return row["bytes"], row["sha256"], row["damage"]


def test_content_is_what_comes_out_of_the_container_and_a_mark_is_part_of_it(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfa\n" * 1000
    told = (len(data), hashlib.sha256(data).hexdigest(), None)
    assert content_of(tmp_path, data) == content_of(tmp_path, gzip.compress(data)) == told


def test_an_empty_file_has_the_digest_of_nothing(tmp_path: Path) -> None:
    assert content_of(tmp_path, b"") == (0, hashlib.sha256(b"").hexdigest(), None)


def test_of_a_damaged_stream_the_reason_and_what_came_before_are_told(tmp_path: Path) -> None:
    data = b"line\n" * 100
    size, digest, damage = content_of(tmp_path, gzip.compress(data) + b"tail")
    assert (size, digest, damage) == (500, hashlib.sha256(data).hexdigest(), "CONTAINER_DAMAGED")
    assert content_of(tmp_path, gzip.compress(data)[:-1])[2] == "TRUNCATED"
    assert content_of(tmp_path, data, StreamLimits(10, 1))[2] == "BOMB"

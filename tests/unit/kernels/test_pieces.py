"""Pieces leave in batches of bounded size; a file that cannot be read further says where."""

import io
import json

import pyarrow as pa
import pytest

from strandline.kernels import reading
from strandline.kernels.codecs import BLOCK_BYTES
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import CappedBytes, RawLimits
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import LISTED, ReadOptions, read_files

OPTIONS = ReadOptions({}, StreamLimits(2**36, 100), RawLimits(10, 4))


@pytest.mark.parametrize(("raw", "most"), [(b"x" * 2**20, 4), (b"", 20_000)])
def test_many_bytes_are_a_full_batch_and_so_are_many_rows(raw: bytes, most: int) -> None:
    pieces = Pieces()
    for number in range(most - 1):
        pieces.add(0, 0, number, 0, 0, CappedBytes(raw, len(raw)))
        assert list(pieces.full()) == []
    pieces.add(0, 0, most - 1, 0, 0, CappedBytes(raw, len(raw)))
    [batch] = pieces.full()
    assert batch["frame"].to_pylist() == list(range(most))
    assert list(pieces.rest()) == []


def test_a_file_that_fails_while_it_is_read_says_after_how_many_bytes(monkeypatch) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int = -1) -> bytes:
            if self.tell() >= 2 * BLOCK_BYTES:
                raise OSError(5, "Input/output error")
            return super().read(size)

    def read_content(source, content, pieces, options):
        for _ in content:
            yield

    monkeypatch.setattr(reading, "open_input", lambda path: Failing(b"x" * 3 * BLOCK_BYTES))
    for part, until in ((0, None), (BLOCK_BYTES, 3 * BLOCK_BYTES)):
        row = {"file_no": 7, "path": b"/in/a", "part": part, "until": until}
        [found] = read_files([pa.RecordBatch.from_pylist([row], LISTED)], OPTIONS, read_content, ())
        [piece] = found.to_pylist()
        assert (piece["damage"], piece["raw"]) == ("FILE_UNREADABLE", b"/in/a")
        told = json.loads(piece["evidence"])["FILE_UNREADABLE"]["offset"]
        # The first 512 bytes of a whole file tell its container.
        assert told == piece["offset"] == piece["part"] == 2 * BLOCK_BYTES + (512 if until is None else 0)

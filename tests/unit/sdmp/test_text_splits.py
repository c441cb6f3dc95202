"""A text journal in two splits: each line belongs to the one in which it begins, also where it begins at a border."""

import pyarrow as pa
import pytest

from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.kernels import ELEMENT_FIELDS, read_content
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import LISTED, ReadOptions, read_files

OPTIONS = ReadOptions({"strict": "weak"}, StreamLimits(2**36, 100), RawLimits(4 << 20, 64 << 10))


@pytest.mark.parametrize("profile", ["0.9", "0.12"])
@pytest.mark.parametrize("last", [b"", b"\n"])
def test_a_text_journal_cut_at_and_beside_each_line_has_each_line_once(profile: str, last: bytes) -> None:
    lines = list(synthetic(3, 5, profile))
    data = codec.render(lines) + last
    node = lines[0].decode()

    def raws(*splits: tuple[int, int | None]) -> list[bytes]:
        rows = [(0, None, b"", data, start, end, node if end else None) for start, end in splits]
        listed = [
            pa.RecordBatch.from_pylist([dict(zip(LISTED.names, row, strict=True))], LISTED) for row in rows
        ]
        found = read_files(listed, OPTIONS, read_content, ELEMENT_FIELDS)
        return [row["raw"] for batch in found for row in batch.to_pylist() if row["damage"] is None]

    assert raws((0, None)) == lines
    borders = [at + 1 for at in range(len(data)) if data[at : at + 1] == b"\n"]
    for cut in {border + nudge for border in borders for nudge in (-1, 0, 1)} & set(range(1, len(data))):
        assert raws((0, cut), (cut, len(data))) == lines, cut

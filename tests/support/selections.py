"""What tasks read of the files and objects of a selection."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import CappedBytes, RawLimits
from strandline.kernels.opened import Content
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import LISTED, ReadOptions, Source, read_files
from strandline.tables.sources import Selection


def read(selection: Selection) -> dict[str, tuple[bytes, str | None, str | None]]:
    """What a task reads of each file: bytes, damage and its cause."""
    rows = [
        dict(zip(LISTED.names, (each.file_no, None, each.guarded, None, 0, None, None), strict=True))
        for each in selection.files
    ]
    batch = pa.RecordBatch.from_pylist(rows, LISTED)
    options = ReadOptions({}, StreamLimits(2**30, 100), RawLimits(1 << 20, 1 << 10))

    def whole(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
        kept = b"".join(content)
        pieces.add(source.file_no, 0, 0, 0, len(kept), CappedBytes(kept, len(kept)))
        yield

    found = [row for each in read_files([batch], options, whole, ()) for row in each.to_pylist()]
    source = {each.file_no: Path(each.source).name for each in selection.files}
    cause = {row["file_no"]: json.loads(row["evidence"] or "{}").get(row["damage"], {}) for row in found}
    return {
        source[row["file_no"]]: (row["raw"], row["damage"], cause[row["file_no"]].get("cause"))
        for row in found
    }

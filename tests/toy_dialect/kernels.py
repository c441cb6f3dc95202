"""Lines to blocks, blocks to facts, rejected rows to lines: what workers run. No JVM."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from strandline.kernels.blocks import JUDGED_FIELDS, BlockPieces
from strandline.kernels.documents import read_lines
from strandline.kernels.lines import StreamLine
from strandline.kernels.opened import Content
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, Source
from toy_dialect.notes import MAX_LINE_BYTES, Note, Refused, read_note

JUDGED: Final = pa.schema(
    [*JUDGED_FIELDS, pa.field("parents", pa.list_(pa.binary())), pa.field("text", pa.string())]
)


def read_content(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add each line of a file."""
    adder = BlockPieces(source.file_no, content.part, pieces, options)

    def add(line: StreamLine) -> Iterator[None]:
        yield _add(adder, line.kept.raw, line.offset)

    return read_lines(content, adder, MAX_LINE_BYTES, add)


def judge(block: bytes, claims: Mapping[str, Any], options: ReadOptions) -> Mapping[str, Any]:
    """Return the facts of a note: what did not read as one was refused before."""
    note = read_note(block)
    assert isinstance(note, Note)
    return {"namespace": note.namespace, "parents": [note.parent] if note.parent else [], "text": note.text}


def replay(row: Mapping[str, Any], pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the line of a rejected row."""
    yield _add(BlockPieces(row["file_no"], 0, pieces, options), row["raw"], 0)


def _add(adder: BlockPieces, raw: bytes, offset: int) -> None:
    note, kept = read_note(raw), adder.kept(raw)
    if isinstance(note, Refused):
        adder.refuse((note.reason,), {note.reason: note.evidence}, kept, offset)
    else:
        named = {"namespace": note.namespace, "record_id": note.record_id, "judge_id": note.record_id}
        adder.put("block", offset, kept, **named)

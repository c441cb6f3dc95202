"""Files and frames to elements of journals."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.core.verdict import encode_evidence, internal_error
from strandline.dialects.sdmp import codec, verify
from strandline.dialects.sdmp.types import Announcement, Damage, Frame
from strandline.kernels.lines import KeepLimits, Kept, StreamLine, stream_lines
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import WHITE_SPACE, Content, ReadOptions, Source, read_one

TEXT_FRAME: Final = -1
"""`frame` of a line of a text journal; a JSON frame carries the number of its line in its part, from 0."""

ELEMENT_FIELDS = (
    pa.field("node", pa.string()),
    pa.field("since", pa.string()),
    pa.field("claim", pa.string()),
)
"""What an element of a journal adds to a piece: its node; its frame's `since`; the claim of a frame's first element
where that is not open."""


STRICT: Final = "strict"
"""The choice of a lake for this dialect: `strict` or `weak`."""


def is_strict(options: ReadOptions) -> bool:
    """Return whether the lake was made to refuse ids that are not in canonical form."""
    return options.choices[STRICT] == "strict"


def read_content(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the elements of one file: frames if its first mark is `{`, else a text journal; nothing if it is empty.

    A split of a file is one of a file of frames: text journals are split by Spark's own reader.
    """
    if content.until is not None:
        yield from _read_frames(source, content, pieces, options.keep)
        return
    mark = content.first_mark()
    if mark == b"{":
        yield from _read_frames(source, content, pieces, options.keep)
    elif not content.empty:
        yield from _read_text(source, content, pieces, options)


def _read_text(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    node: str | None = None
    for line in stream_lines(content, limit=options.keep.whole_bytes, keep=options.keep):
        kept = line.kept if is_strict(options) else _without_cr(line.kept)
        if node is None:
            node = codec.node_of_line(kept.raw) if kept.whole else None
            if node is None:
                whole = source.kept_content(options)
                damage = codec.first_line_malformed(whole.raw)
                _add_damage(pieces, source.file_no, 0, TEXT_FRAME, content.offset, whole, damage)
                yield
                return
        size = line.kept.length + (1 if line.ended else 0)
        pieces.add(source.file_no, 0, TEXT_FRAME, content.offset, size, kept, node=node)
        yield


def _without_cr(kept: Kept) -> Kept:
    if kept.whole and kept.raw.endswith(b"\r"):
        return Kept(kept.raw[:-1], kept.length - 1)
    return kept


def _read_frames(source: Source, content: Content, pieces: Pieces, keep: KeepLimits) -> Iterator[None]:
    lines = stream_lines(content, limit=codec.MAX_FRAME_BYTES, keep=keep, offset=content.offset)
    for number, line in enumerate(lines):
        if number == 0 and content.part:
            continue  # the split before reads on to the end of the line that it began
        if content.until is not None and line.offset > content.until:
            return
        add_frame(pieces, source.file_no, content.part, number, line, keep)
        yield


def add_frame(
    pieces: Pieces, file_no: int, part: int, number: int, line: StreamLine, keep: KeepLimits
) -> None:
    """Add the elements of one frame, or the record that it is when it does not open. A blank line adds nothing."""
    if line.over_limit:
        _add_damage(
            pieces, file_no, part, number, line.offset, line.kept, codec.frame_too_large(line.kept.length)
        )
        return
    raw = line.kept.raw
    if not raw.strip(WHITE_SPACE):
        return
    opened = _open_frame(raw)
    if isinstance(opened, Damage):
        opened = opened if line.ended else codec.truncated(opened)
        _add_damage(pieces, file_no, part, number, line.offset, _kept(raw, keep), opened)
    elif isinstance(opened, Frame):
        for element in opened.elements:
            kept = _kept(element, keep)
            pieces.add(file_no, part, number, line.offset, 0, kept, node=opened.node, since=opened.since)
    else:
        for damage in verify.refused_announcement(opened):
            _add_damage(pieces, file_no, part, number, line.offset, _kept(damage.raw, keep), damage)


def _open_frame(raw: bytes) -> Frame | Announcement | Damage:
    try:
        return codec.parse_frame(raw)
    except Exception as error:  # noqa: BLE001  our own fault must not stop the job: the record waits for mended rules
        return Damage(("INTERNAL_ERROR",), raw, 0, internal_error(error), None)


def _add_damage(
    pieces: Pieces, file_no: int, part: int, frame: int, offset: int, kept: Kept, damage: Damage
) -> None:
    pieces.add(
        file_no, part, frame, offset, 0, kept,
        node=damage.node, damage=",".join(damage.reasons), evidence=encode_evidence(damage.evidence),
    )  # fmt: skip


def _kept(raw: bytes, limits: KeepLimits) -> Kept:
    if len(raw) <= limits.whole_bytes:
        return Kept(raw, len(raw))
    return Kept(raw[: limits.head_bytes], len(raw), hashlib.sha256(raw).digest())


def replayed(batches: Iterable[pa.RecordBatch], options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of rejected frames and files that are judged again.

    Reads: file_no, raw, reasons (joined by commas), node, evidence.
    Gives: PIECE_FIELDS and ELEMENT_FIELDS.
    """
    pieces = Pieces(ELEMENT_FIELDS)
    for batch in batches:
        columns = (
            batch.column(name).to_pylist() for name in ("file_no", "raw", "reasons", "node", "evidence")
        )
        for file_no, raw, reasons, node, evidence in zip(*columns, strict=True):
            codes = set(reasons.split(","))
            if codes & FRAME_REASONS:
                line = StreamLine(0, Kept(raw, len(raw)), "TRUNCATED" not in codes, False)
                add_frame(pieces, file_no, 0, 0, line, options.keep)
            elif "NOT_OWN_NODE" in codes:
                pieces.add(
                    file_no, 0, 0, 0, 0, Kept(raw, len(raw)), node=node, damage=reasons, evidence=evidence
                )
            else:
                for _ in read_one(file_no, raw, pieces, options, read_content):
                    yield from pieces.full()
            yield from pieces.full()
    yield from pieces.rest()


FRAME_REASONS: Final = frozenset(
    {"BAD_NODE", "FRAME_SHAPE", "FRAME_TOO_LARGE", "FRAME_TOO_MANY", "JSON_INVALID"}
)

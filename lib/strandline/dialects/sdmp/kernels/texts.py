"""Text journals to elements: chunks of whole lines where all is regular, single lines from where it is not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from strandline.core.verdict import encode_evidence
from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.info import STRICT
from strandline.dialects.sdmp.kernels.chunks import (
    CHARS,
    CHUNK_FRAME,
    CHUNK_LINE_BYTES,
    FIRST_LINE_BYTES,
    PROFILE,
    has_line_ends,
)
from strandline.kernels.codecs import StreamDamage
from strandline.kernels.lines import CappedBytes, stream_lines
from strandline.kernels.opened import Content, after_line
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, Source

TEXT_FRAME: Final = -1
"""Value of `frame` for lines of a text journal; for a JSON frame it is the number of its line in its part, from 0."""


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """How text journals become chunks: at most `lines` in one, 0 for none, and none of the nodes `but`."""

    lines: int
    but: Collection[str] = ()


NO_CHUNKS: Final = ChunkRules(0)


def is_strict(options: ReadOptions) -> bool:
    """Return whether the lake refuses ids that are not in canonical form."""
    return options.lake_options[STRICT] == "strict"


def read_text(
    source: Source, content: Content, pieces: Pieces, options: ReadOptions, rules: ChunkRules
) -> Iterator[None]:
    """Add the elements of a text journal, or of one split of it; a split knows the node from `source.label`.

    A part starts at the offset of its first line, or at 0 for that of the file. Each chunk is a part. From the first
    line without the length of its form on, each line is an element of the last part.
    """
    ahead = _Ahead(content)
    if content.part and not ahead.drop_line(content.until):
        return
    node = source.label if content.part else None
    if rules.lines:
        for offset, chunk, size, named in _chunks(ahead, content, node, rules):
            node = named
            kept = CappedBytes(chunk, len(chunk))
            pieces.add(source.file_no, _part(content, offset), CHUNK_FRAME, offset, size, kept, node=node)
            if options.tally is not None:
                options.tally(chunk.count(b"\n") - 1)
            yield
    yield from _read_lines(source, content, pieces, options, ahead, node)


def _chunks(
    ahead: _Ahead, content: Content, node: str | None, rules: ChunkRules
) -> Iterator[tuple[int, bytes, int, str]]:
    """Yield chunks with their offset, their size in the file and their node, up to the first irregular line."""
    first = 0
    if node is None:
        head = ahead.look(FIRST_LINE_BYTES)
        node = codec.node_of_line(head[:CHARS]) if head[CHARS:FIRST_LINE_BYTES] == b"\n" else None
        first = FIRST_LINE_BYTES
    if node is None or codec.profile_of(node) != PROFILE or node in rules.but:
        return
    while True:
        seen = ahead.look(first + rules.lines * CHUNK_LINE_BYTES)
        lines = min((len(seen) - first) // CHUNK_LINE_BYTES, rules.lines)
        chunk = seen[: first + lines * CHUNK_LINE_BYTES]
        if ahead.ended and lines < rules.lines and len(seen) == len(chunk) + CHUNK_LINE_BYTES - 1:
            # The last line of a file, without LF.
            chunk, lines = seen + b"\n", lines + 1
        if content.until is not None:
            lines = min(lines, (content.until - ahead.offset - first) // CHUNK_LINE_BYTES + 1)
            chunk = chunk[: first + max(lines, 0) * CHUNK_LINE_BYTES]
        if lines < 1 or not has_line_ends(chunk, first):
            return
        size = min(len(chunk), len(seen))
        yield ahead.offset, chunk, size, node
        ahead.drop(size)
        first = 0


def _read_lines(
    source: Source, content: Content, pieces: Pieces, options: ReadOptions, ahead: _Ahead, node: str | None
) -> Iterator[None]:
    offset = ahead.offset
    part = _part(content, offset)
    keeps_cr = is_strict(options)
    # Of each line that can have a form, its last byte is seen.
    limit = max(options.keep.whole_bytes, codec.MAX_LINE_BYTES + 1)
    for line in stream_lines(ahead.rest(), limit=limit, keep=options.keep, offset=offset):
        if content.until is not None and line.offset > content.until:
            return
        kept = line.kept if keeps_cr else _without_cr(line.kept)
        if node is None:
            node = codec.node_of_line(kept.raw) if kept.whole else None
            if node is None:
                whole = source.kept_content(options)
                damage = codec.first_line_malformed(whole.raw, _without_cr(line.kept).length)
                pieces.add(
                    source.file_no, 0, TEXT_FRAME, content.offset, 0, whole, node=damage.node,
                    damage=",".join(damage.reasons), evidence=encode_evidence(damage.evidence),
                )  # fmt: skip
                yield
                return
        size = line.kept.length + (1 if line.ended else 0)
        pieces.add(source.file_no, part, TEXT_FRAME, offset, size, kept, node=node)
        yield


def _part(content: Content, offset: int) -> int:
    """Return the number of the part whose first line starts here."""
    return offset if content.part or offset > content.offset else 0


def _without_cr(kept: CappedBytes) -> CappedBytes:
    if kept.whole and kept.raw.endswith(b"\r"):
        return CappedBytes(kept.raw[:-1], kept.length - 1)
    return kept


class _Ahead:
    """The bytes of a content from `offset` on, of which some can be seen before they are taken.

    A damage is raised only by `rest`, after the bytes before it.
    """

    def __init__(self, content: Content) -> None:
        self.offset = content.offset
        self.ended = False
        """True if everything was seen and no damage follows."""
        self._blocks = iter(content)
        self._seen = b""
        self._damage: StreamDamage | None = None

    def look(self, size: int) -> bytes:
        """Return the next bytes: at least `size`, or all that are left."""
        if len(self._seen) < size:
            found = [self._seen]
            have = len(self._seen)
            while have < size and (block := self._next()) is not None:
                found.append(block)
                have += len(block)
            self._seen = b"".join(found)
        return self._seen

    def drop(self, size: int) -> None:
        """Leave out the next bytes, which were seen."""
        self._seen = self._seen[size:]
        self.offset += size

    def drop_line(self, until: int | None) -> bool:
        """Leave out all bytes up to the next LF; false if there is none before byte `until`. Nothing was seen yet."""
        found = after_line(iter(self._next, None), self.offset, until)
        if found is None:
            return False
        self._seen, self.offset = found
        return True

    def rest(self) -> Iterator[bytes]:
        """Return the blocks that are left. Raises: StreamDamage."""
        if self._seen:
            yield self._seen
        if self._damage is not None:
            raise self._damage
        yield from self._blocks

    def _next(self) -> bytes | None:
        if self.ended or self._damage is not None:
            return None
        try:
            block = next(self._blocks, None)
        except StreamDamage as damage:
            self._damage = damage
            return None
        self.ended = block is None
        return block

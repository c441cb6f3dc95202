"""Files and frames to elements of journals."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from strandline.core.encoding.lines import ASCII_SPACE
from strandline.core.verdict import encode_evidence
from strandline.dialects.sdmp import codec, verify
from strandline.dialects.sdmp.kernels.texts import NO_CHUNKS, ChunkRules, is_strict, read_text
from strandline.dialects.sdmp.types import Announcement, Frame, Pair, Unreadable
from strandline.kernels.codecs import BLOCK_BYTES
from strandline.kernels.guard import INTERNAL_ERROR, guarded
from strandline.kernels.lines import CappedBytes, RawLimits, StreamLine
from strandline.kernels.opened import Content, split_lines
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, Source

ELEMENT_FIELDS = (
    pa.field("node", pa.string()),
    pa.field("since", pa.string()),
    pa.field("claim", pa.string()),
)
"""What an element of a journal adds to a piece: its node, its frame's `since`, and the claim of a frame's first
element, if it makes one.
"""


ANNOUNCED: Final = "announced"
"""Value of `damage` for an element that is an announced resource of a local node, not a line; its `evidence` is its
place. No reason code has this spelling.
"""


@dataclass(frozen=True, slots=True)
class FrameRules:
    """What decides how frames become elements: the limits of kept bytes, strict or not, and the local nodes."""

    keep: RawLimits
    strict: bool
    local_nodes: Collection[str]


def read_content(
    source: Source, content: Content, pieces: Pieces, options: ReadOptions, local_nodes: Collection[str] = (),
    chunks: ChunkRules = NO_CHUNKS,
) -> Iterator[None]:  # fmt: skip
    """Add the elements of one file: frames if its first byte that is not white space is `{`, else a text journal.

    A split is one of a text journal if its file has a label, the node. An empty file adds nothing.
    """
    rules = FrameRules(options.keep, is_strict(options), local_nodes)
    has_frames = source.label is None if content.until is not None else content.first_mark() == b"{"
    if has_frames:
        yield from _read_frames(source, content, pieces, rules)
    elif content.until is not None or not content.empty:
        yield from read_text(source, content, pieces, options, chunks)


def _read_frames(source: Source, content: Content, pieces: Pieces, rules: FrameRules) -> Iterator[None]:
    adder = FramePieces(source.file_no, content.part, pieces, rules)
    before: int | None = None
    for number, line in split_lines(content, limit=codec.MAX_FRAME_BYTES, keep=rules.keep):
        announcement = adder.add(number, line)
        if announcement is not None:
            if before is None and announcement.node in rules.local_nodes:
                before = _lines_before(source, content.part)
            adder.add_announced(number, line, announcement, (before or 0) + number)
        yield


def _lines_before(source: Source, part: int) -> int:
    """Return how many lines of a plain file end before byte `part`, where a split starts.

    Reads the file up to there: only for elements of local nodes, which are stored with the line of their frame.
    """
    count, left = 0, part
    with source.open() as stream:
        while left and (block := stream.read(min(left, BLOCK_BYTES))):
            count += block.count(b"\n")
            left -= len(block)
    return count


class FramePieces:
    """Turns the frames of one file into pieces, one per element."""

    def __init__(self, file_no: int, part: int, pieces: Pieces, rules: FrameRules) -> None:
        self._file_no = file_no
        self._part = part
        self._pieces = pieces
        self._rules = rules

    def add(self, number: int, line: StreamLine) -> Announcement | None:
        """Add the elements of one frame, or one rejected record if it cannot be opened. A blank line adds nothing.

        An announcement is returned instead: its elements need the number of its line in the whole file.
        """
        raw = line.kept.raw
        if not line.over_limit and not raw.strip(ASCII_SPACE):
            return None
        opened = codec.frame_too_large(line.kept.length) if line.over_limit else _open_frame(raw)
        if isinstance(opened, Announcement):
            return opened
        if isinstance(opened, Unreadable):
            opened = opened if line.ended else codec.truncated(opened)
            self._refuse(number, line.offset, line.kept if line.over_limit else self._kept(raw), opened)
            return None
        for element in opened.elements:
            self._pieces.add(
                self._file_no, self._part, number, line.offset, 0, self._kept(element), node=opened.node,
                since=opened.since,
            )  # fmt: skip
        return None

    def add_announced(self, number: int, line: StreamLine, announcement: Announcement, frame_no: int) -> None:
        """Add each announced element: the pair with its place in the writing order, or its rejected record.

        `frame_no` is the line of the frame in its file; it counts only if the node is local.
        """
        frame_hash = hashlib.sha256(line.kept.raw).hexdigest()
        judged = verify.judge_announcement(announcement, self._rules.local_nodes, strict=self._rules.strict)
        for pos, element in enumerate(judged):
            place = (frame_no, frame_hash, announcement.seq, pos)
            self._add_element(number, line.offset, element, announcement.node, place)

    def replay_announced(self, node: str, raw: bytes, position: int) -> None:
        """Judge an element again that was refused because its node was not local, and add it.

        Its frame is not stored: the element's position replaces the frame's place in its file, and the element's bytes
        replace the frame's.
        """
        value = json.loads(raw)
        profile = codec.profile_of(node)
        if profile is None:
            raise ValueError(f"{node} is stored as a node but is not a fingerprint")
        announcement = Announcement(node, profile, ((value["author"], value["resource"]),), None)
        [element] = verify.judge_announcement(
            announcement, self._rules.local_nodes, strict=self._rules.strict, first=position
        )
        self._add_element(0, 0, element, node, (position - 1, hashlib.sha256(raw).hexdigest(), None, 0))

    def _add_element(
        self, number: int, offset: int, element: Pair | Unreadable, node: str,
        place: tuple[int, str, int | None, int],
    ) -> None:  # fmt: skip
        if isinstance(element, Unreadable):
            self._refuse(number, offset, self._kept(element.raw), element)
            return
        raw = codec.announced_element(*element)
        self._pieces.add(
            self._file_no, self._part, number, offset, 0, CappedBytes(raw, len(raw)), node=node, damage=ANNOUNCED,
            evidence=_place(element, *place),
        )  # fmt: skip

    def _refuse(self, number: int, offset: int, kept: CappedBytes, damage: Unreadable) -> None:
        self._pieces.add(
            self._file_no, self._part, number, offset, 0, kept,
            node=damage.node, damage=",".join(damage.reasons), evidence=encode_evidence(damage.evidence),
        )  # fmt: skip

    def _kept(self, raw: bytes) -> CappedBytes:
        if len(raw) <= self._rules.keep.whole_bytes:
            return CappedBytes(raw, len(raw))
        return CappedBytes(raw[: self._rules.keep.head_bytes], len(raw), hashlib.sha256(raw).digest())


def _place(pair: Pair, frame_no: int, frame_hash: str, seq: int | None, pos: int) -> str:
    author, resource = pair
    place = {
        "author_fp": author, "resource_id": resource, "seq": None if seq is None else str(seq), "frame_no": frame_no,
        "frame_hash": frame_hash, "pos": pos,
    }  # fmt: skip
    return json.dumps(place, separators=(",", ":"), ensure_ascii=True)


def _open_frame(raw: bytes) -> Frame | Announcement | Unreadable:
    return guarded(
        lambda: codec.parse_frame(raw),
        lambda evidence: Unreadable((INTERNAL_ERROR,), raw, 0, evidence, None),
    )

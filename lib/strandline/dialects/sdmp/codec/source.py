"""One decompressed file: a text journal or frames. The first byte that is not white space decides."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

from strandline.core.encoding.lines import ASCII_SPACE, lines_of
from strandline.core.encoding.strict_json import BYTE_ORDER_MARK
from strandline.core.verdict import Evidence, Finding, evidence_of, shown
from strandline.dialects.sdmp.codec.frames import MAX_FRAME_BYTES, parse_frame, truncated
from strandline.dialects.sdmp.codec.lines import (
    ID_FORMS_IN_WORDS,
    MAX_LINE_BYTES,
    malformed_cause,
    node_of_line,
    profile_of,
    split,
)
from strandline.dialects.sdmp.types import Announcement, Frame, SourceContent, Unreadable

SourceForm: TypeAlias = Literal["text", "frames"]


def form_of(head: bytes) -> SourceForm | None:
    """Return the form of a file from its first bytes; None while they are all white space.

    A file is `frames` if its first byte after an optional byte order mark and ASCII white space is `{`. A file of
    only white space is a text journal with a malformed first line.
    """
    rest = head.removeprefix(BYTE_ORDER_MARK).lstrip(ASCII_SPACE)
    if not rest:
        return None
    return "frames" if rest.startswith(b"{") else "text"


def parse_source(data: bytes, *, strict: bool = False) -> SourceContent:
    """Return the content of one decompressed file; never raises, what cannot be opened is an `Unreadable`.

    A text journal is one frame without `since`. If its line 1 does not have the form of an id, the whole content is
    one `FIRST_LINE_MALFORMED` record. In a file of frames, blank lines are skipped, and a last frame without LF that
    is not strict JSON is also `TRUNCATED`. An empty file has no content. Offsets include a byte order mark.
    """
    start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    if len(data) == start:
        return SourceContent((), ())
    if form_of(data) == "frames":
        return _frames(data, start)
    return _text(data, start, strict)


def _text(data: bytes, start: int, strict: bool) -> SourceContent:
    end = data.find(b"\n", start)
    # The rest of the file is split only after line 1 was found valid.
    first = data[start:] if end < 0 else data[start:end]
    node = node_of_line(first if strict else first.removesuffix(b"\r"))
    profile = None if node is None else profile_of(node)
    if node is None or profile is None:
        return SourceContent((), (replace(first_line_malformed(data[start:]), offset=start),))
    return SourceContent(((start, Frame(node, profile, None, tuple(split(data, strict)))),), ())


def first_line_malformed(raw: bytes, length: int | None = None) -> Unreadable:
    """Return the `FIRST_LINE_MALFORMED` record of a text journal.

    `raw` is the content of the file without its byte order mark, or the beginning of it. `length` is that of its first
    line without CR and LF; `raw` tells it if it has more than 1,025 bytes or is whole.
    """
    first = raw[: MAX_LINE_BYTES + 2].partition(b"\n")[0]
    if length is None:
        length = len(first.removesuffix(b"\r"))
    evidence: Evidence = {
        "position": 1,
        "cause": malformed_cause(length),
        "expected": ID_FORMS_IN_WORDS,
        "actual": shown(first),
    }
    return Unreadable(
        ("FIRST_LINE_MALFORMED",), raw, 0, evidence_of([Finding("FIRST_LINE_MALFORMED", evidence)])
    )


def _frames(data: bytes, start: int) -> SourceContent:
    frames: list[tuple[int, Frame | Announcement]] = []
    damages: list[Unreadable] = []
    for offset, raw, ended in _raw_frames(data, start):
        content = parse_frame(raw)
        if isinstance(content, Unreadable):
            damages.append(replace(content if ended else truncated(content), offset=offset))
        else:
            frames.append((offset, content))
    return SourceContent(tuple(frames), tuple(damages))


def _raw_frames(data: bytes, start: int) -> Iterator[tuple[int, bytes, bool]]:
    for at, stop, ended in lines_of(data, start):
        raw = data[at:stop]
        # A line over the limit is a record even if it is blank: the streaming reader keeps only its beginning.
        if len(raw) > MAX_FRAME_BYTES or raw.strip(ASCII_SPACE):
            yield at, raw, ended

"""Frames to checked elements: each element claims to follow the element before it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from strandline.core.verdict import Finding
from strandline.dialects.sdmp.types import Frame
from strandline.dialects.sdmp.verify.chain import Link, link_of
from strandline.dialects.sdmp.verify.elements import non_canonical, not_stored, number_mismatch, well_placed


@dataclass(frozen=True, slots=True)
class Checked:
    """An element after checks 5 to 9; `link` is None if it failed check 5 or 6."""

    frame: int
    pos: int
    raw: bytes
    since: str | None
    link: Link | None
    findings: tuple[Finding, ...]

    @property
    def candidate(self) -> Link | None:
        """The line if it passed checks 5 to 9, else None."""
        return None if self.findings else self.link


def check_frames(
    frames: Sequence[Frame | Sequence[bytes]],
    root: Link,
    stored: Mapping[bytes, int],
    *,
    strict: bool,
    only_stored: bool,
) -> list[Checked]:
    """Return the elements of all frames, in order: see `check_frame`. Raises: as `check_frame`."""
    return [
        element
        for index, frame in enumerate(frames)
        for element in check_frame(index, frame, root, stored, strict=strict, only_stored=only_stored)
    ]


def check_frame(
    index: int,
    frame: Frame | Sequence[bytes],
    root: Link,
    stored: Mapping[bytes, int],
    *,
    strict: bool,
    only_stored: bool,
) -> Iterator[Checked]:
    """Yield the elements of frame `index` of `root`'s journal, each checked against the element before it.

    If `only_stored`, only the lines in `stored` pass check 9.

    Raises:
        ValueError: the frame is of another node.
    """
    node = root.raw.decode("ascii")
    if isinstance(frame, Frame) and frame.node != node:
        raise ValueError("a frame must be of the node that is judged")
    elements, since = (frame.elements, frame.since) if isinstance(frame, Frame) else (frame, None)
    claimed: Link | None = None
    for position, raw in enumerate(elements, start=1):
        line = well_placed(raw, node=node, profile=root.line.profile, position=position)
        if isinstance(line, Finding):
            claimed = None
            yield Checked(index, position, raw, since, None, (line,))
            continue
        link = link_of(line)
        findings = []
        if strict and (impossible := non_canonical(line, position)):
            findings.append(impossible)
        if claimed is not None and line.number is not None and line.number != claimed.hash:
            findings.append(number_mismatch(position, claimed.hash, line.number, claimed.raw))
        if only_stored and raw not in stored:
            findings.append(not_stored(link.hash, position))
        claimed = link
        yield Checked(index, position, raw, since, link, tuple(findings))

"""How every dialect of addressed records reads a file: line by line or whole, and what an internal fault does to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from strandline.core.verdict import Evidence
from strandline.kernels.blocks import BlockPieces
from strandline.kernels.guard import INTERNAL_ERROR, guarded_steps, with_format
from strandline.kernels.lines import StreamLine
from strandline.kernels.opened import Content, split_lines
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadContent, ReadOptions, Source, read_one


def guarded_file(
    steps: Iterator[None], source: Source, content: Content, adder: BlockPieces
) -> Iterator[None]:
    """Yield at each step that adds a document of a file; after an internal fault the file waits for corrected rules."""

    def at_fault(evidence: Evidence) -> None:
        shown = with_format(evidence, source.format)
        adder.refuse((INTERNAL_ERROR,), shown, source.kept_content(adder.options), content.offset)

    return guarded_steps(steps, at_fault)


def faulty_file(
    row: Mapping[str, Any], pieces: Pieces, options: ReadOptions, read_content: ReadContent
) -> Iterator[None] | None:
    """Return the steps that read a row of quarantine as the file that it is, after an internal fault in a whole file.

    None for a row that is a part of a file.
    """
    fault = json.loads(row["evidence"] or "{}").get(INTERNAL_ERROR, {})
    if "format" not in fault:
        return None
    return read_one(row["file_no"], row["raw"], pieces, options, read_content, fault["format"])


def read_lines(
    content: Content, adder: BlockPieces, limit: int, add: Callable[[StreamLine], Iterator[None]]
) -> Iterator[None]:
    """Add the documents of each line, yielding often; an internal fault affects only the line of it."""
    for _, line in split_lines(content, limit=limit, keep=adder.options.keep):
        if line.over_limit:
            reasons = ("LINE_TOO_LARGE",) if line.ended else ("LINE_TOO_LARGE", "TRUNCATED")
            evidence: Evidence = {"LINE_TOO_LARGE": {"expected": limit, "actual": line.kept.length}}
            adder.refuse(reasons, evidence, line.kept, line.offset)
        else:
            yield from adder.guarded(add(line), line.kept.raw, line.offset)
        yield


def read_whole(
    content: Content, adder: BlockPieces, limit: int, add: Callable[[bytes], Iterator[None]]
) -> Iterator[None]:
    """Add the documents of a file that is parsed as a whole; one of more than `limit` bytes is one rejected record."""
    parts: list[bytes] = []
    size, rest = 0, iter(content)
    for block in rest:
        parts.append(block)
        size += len(block)
        if size > limit:
            kept = adder.kept_rest(parts, rest)
            evidence: Evidence = {"FILE_TOO_LARGE": {"expected": limit, "actual": kept.length}}
            adder.refuse(("FILE_TOO_LARGE",), evidence, kept, content.offset)
            yield
            return
    whole = b"".join(parts)
    parts.clear()
    yield from add(whole)

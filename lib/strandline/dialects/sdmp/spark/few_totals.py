"""What is counted of segments that were placed in the driver: the counts that aggregates find for many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from strandline.core.ids import bucket_of
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import elements
from strandline.dialects.sdmp.spark.few_segments import FewSegments
from strandline.frames.blocks import REPLAY_FILE_NO


def totals(few: FewSegments) -> dict[str, int]:
    """Return the counts of elements by verdict, as `Batch.totals`."""
    lines: Counter[int] = Counter()
    for row in few.spans:
        lines[row["verdict"]] += row["lines"]
    return {
        "read": lines.total(),
        "refused": lines[elements.REFUSED] + lines[elements.FAULT],
        "announced": lines[elements.ANNOUNCED],
        "faults": lines[elements.FAULT],
    }


def head_totals(few: FewSegments, buckets: int) -> dict[str, Any]:
    """Return what the heads determine, as `admission._head_totals`."""
    accepted = [(head, head.n, head.last_n) for head in few.heads if head.n is not None]
    new_heads = [each for each in accepted if not each[0].is_known]
    in_bucket = {head.segment.namespace: bucket_of(head.segment.namespace, buckets) for head in few.heads}
    ends = [
        last for head, _, last in accepted if head.segment.frame == kernels.TEXT_FRAME and last is not None
    ]
    lines = [head.segment.lines for head, *_ in accepted]
    return {
        "accepted": sum(lines),
        "deferred": sum(head.segment.lines for head in few.heads) - sum(lines),
        "low": min((n for _, n, _ in new_heads), default=None),
        "high": max((last for *_, last in new_heads if last is not None), default=None),
        "low_end": min(ends, default=None),
        "frames": sum(head.segment.since is not None for head, *_ in accepted),
        "buckets": {in_bucket[head.segment.namespace] for head, *_ in accepted},
        "new_buckets": {in_bucket[head.segment.namespace] for head, *_ in new_heads},
        "new_lines": sum(head.segment.lines for head, *_ in new_heads),
        "chunk_lines": 0,
        "overlapping": sum(head.overlaps for head, *_ in new_heads),
        "part_buckets": len(
            {
                (head.segment.file_no, head.segment.part, in_bucket[head.segment.namespace])
                for head, *_ in new_heads
            }
        ),
        "namespaces": len(in_bucket),
        "accepted_namespaces": len({head.segment.namespace for head, *_ in accepted}),
        "rooted": len({head.segment.namespace for head, n, _ in accepted if n == 1 or head.has_stored}),
    }


def since_mismatches(few: FewSegments) -> int | None:
    """Return `counters.since_mismatches`, or None if other stored lines must be asked."""
    wrong = 0
    for head in few.heads:
        each = head.segment
        if each.head or each.since is None or head.n is None:
            continue
        follows = each.follows
        expected: str | None = each.node
        if head.n > 2 and follows is not None:
            journal: Mapping[str, Any] = few.journals.get(each.namespace, {})
            is_tip = journal.get("tip_hash") == each.number
            expected = journal["tip_number"] if is_tip else few.numbers.get(follows)
        if expected is None:
            return None
        wrong += expected != each.since
    return wrong


def shorter_journals(few: FewSegments) -> int | None:
    """Return `counters.shorter_journals`, or None if it was not asked which ends are followed by stored lines."""
    if few.followed is None:
        return None
    last_of: dict[int, int] = {}
    for row in few.spans:
        if row["frame"] == kernels.TEXT_FRAME:
            last_of[row["file_no"]] = max(row["last_idx"], last_of.get(row["file_no"], -1))
    return sum(
        head.n is not None
        and head.segment.file_no < REPLAY_FILE_NO
        and head.segment.frame == kernels.TEXT_FRAME
        and head.segment.head + head.segment.lines - 1 == last_of[head.segment.file_no]
        and head.segment.ends_with in few.followed
        for head in few.heads
    )


def within_room(few: FewSegments, limit: int) -> bool:
    """Return whether every journal, which has no waiting rows, has room for the elements that will wait."""
    waiting: Counter[str] = Counter()
    for head in few.heads:
        if head.n is None:
            waiting[head.segment.namespace] += head.segment.lines
    return all(lines <= limit for lines in waiting.values())

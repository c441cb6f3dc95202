"""Rows of `node_resource`: what own nodes hold, which of it their journals lack, and in which order it is written."""

import hashlib
from collections.abc import Container, Iterable, Mapping
from typing import TypeAlias

from strandline.core.ids import namespace
from strandline.dialects.sdmp.types import Line, NodeResource, Pair

ResourceKey: TypeAlias = tuple[str, str, str]
"""(namespace, author fingerprint, resource identifier)."""


def announced_resource(
    node: str, pair: Pair, *, ingest_no: int, seq: int | None, frame: bytes, frame_no: int, pos: int
) -> NodeResource:
    """Return the row of an announced pair.

    `frame` are the bytes of its frame without LF, `frame_no` the frame's line in its file, `pos` the place in
    `resources`; both count from 0.
    """
    frame_hash = hashlib.sha256(frame).digest()
    return NodeResource(
        namespace("node", node), *pair, ingest_no, seq, frame_no, pos, frame_hash, "announced"
    )


def restored_resource(node: str, line: Line, n: int, *, ingest_no: int) -> NodeResource | None:
    """Return the row of the pair that a restored line names, None for line 1: the node held what its journal says.

    `frame_no` is n - 1, the line's place in a text of the whole journal, so that the row does not depend on how the
    line was delivered.
    """
    if line.pair is None:
        return None
    return NodeResource(
        namespace("node", node), *line.pair, ingest_no, None, n - 1, 0, line.record_id, "restored"
    )


def landed(held: Container[ResourceKey], rows: Iterable[NodeResource]) -> Mapping[ResourceKey, NodeResource]:
    """Return the rows that are new, by key: of one key the earliest in the order of writing, whatever the order here.

    A key that is held is known: its row stays as it is.
    """
    found: dict[ResourceKey, NodeResource] = {}
    for row in rows:
        key = (row.namespace, *row.pair)
        if key not in held and (key not in found or row.order < found[key].order):
            found[key] = row
    return found


def pending(resources: Iterable[NodeResource], recorded: Container[Pair]) -> tuple[Pair, ...]:
    """Return the pairs of one node that its journal lacks, in the order in which they are written.

    By run, `seq` (none comes last), the frame's line in its file, its bytes, the place in it: never by names or
    clocks, so that the order of knowledge can be made again.
    """
    waiting = [row for row in resources if row.pair not in recorded]
    return tuple(row.pair for row in sorted(waiting, key=lambda row: row.order))

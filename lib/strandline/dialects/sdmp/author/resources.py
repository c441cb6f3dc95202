"""Rows of `node_resource`: the resources that local nodes hold, and those that their journals do not record yet."""

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

    `frame` is the bytes of its frame without LF, `frame_no` the number of the frame's line in its file, `pos` the
    place in `resources`; both count from 0.
    """
    frame_hash = hashlib.sha256(frame).digest()
    return NodeResource(
        namespace("node", node), *pair, ingest_no, seq, frame_no, pos, frame_hash, "announced"
    )


def restored_resource(node: str, line: Line, n: int, *, ingest_no: int) -> NodeResource | None:
    """Return the row of the pair on a restored line, or None for line 1.

    A node held the resources that its journal records. `frame_no` is n - 1, the line's place in a text of the whole
    journal, so the row does not depend on how the line was delivered.
    """
    if line.pair is None:
        return None
    return NodeResource(
        namespace("node", node), *line.pair, ingest_no, None, n - 1, 0, line.record_id, "restored"
    )


def new_resources(
    stored: Container[ResourceKey], rows: Iterable[NodeResource]
) -> Mapping[ResourceKey, NodeResource]:
    """Return the rows whose key is not stored, by key; of rows with one key the first in writing order.

    The order of `rows` does not matter. Stored rows do not change.
    """
    found: dict[ResourceKey, NodeResource] = {}
    for row in rows:
        key = (row.namespace, *row.pair)
        if key not in stored and (key not in found or row.order < found[key].order):
            found[key] = row
    return found


def pending(resources: Iterable[NodeResource], recorded: Container[Pair]) -> tuple[Pair, ...]:
    """Return the pairs of one node that its journal does not record yet, in writing order.

    The order is by run, `seq` (null last), the frame's line in its file, hash of the frame, place in the frame. It
    never depends on names or clocks, so it can be reproduced.
    """
    waiting = [row for row in resources if row.pair not in recorded]
    return tuple(row.pair for row in sorted(waiting, key=lambda row: row.order))

"""Request files of local nodes to peers: one JSON object per line, in canonical form, parsed strictly."""

import json
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, BinaryIO, Final, TypeAlias

from strandline.core.encoding.lines import ASCII_SPACE
from strandline.core.encoding.strict_json import BYTE_ORDER_MARK, JsonRefused, strict_json
from strandline.core.verdict import shown
from strandline.dialects.sdmp.codec.frames import MAX_FRAME_BYTES, MAX_FRAME_NESTING, json_type
from strandline.dialects.sdmp.types import JournalRequest, MalformedRequest, ResourceRequest

Request: TypeAlias = JournalRequest | ResourceRequest

REQUEST_LIMIT: Final = 10_000
"""How many lines a journal request of a local node asks for."""


def render_requests(requests: Iterable[Request]) -> bytes:
    """Return the request file: one compact ASCII object per line, each with LF, in the order given."""
    return b"".join(_rendered(request) + b"\n" for request in requests)


def _rendered(request: Request) -> bytes:
    content: dict[str, Any]
    if isinstance(request, JournalRequest):
        content = {"since": request.since, "limit": request.limit}
    else:
        content = {"author": request.author, "resource": request.resource}
    members = {"node": request.node, "to": request.to, "request": content}
    return json.dumps(members, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def parse_requests(data: bytes) -> tuple[Request | MalformedRequest, ...]:
    """Return the requests of a file in line order, without blank lines; never raises.

    A line is a request if it meets these conditions, else it is a `MalformedRequest`:
    - it is one strict JSON object of at most 16 MiB; members that are not listed here are ignored;
    - `node` and `to` are texts;
    - `request` has either `since`, a text, and `limit`, an integer of at least 1; or `author` and `resource`, texts.

    Whether `since` names a line and `to` is a local node is decided when the request is answered.
    """
    return tuple(request for _, request in read_requests(BytesIO(data)))


def read_requests(stream: BinaryIO) -> Iterator[tuple[int, Request | MalformedRequest]]:
    """Yield each request as `parse_requests`, with its line number from 1; at most 16 MiB of a line are in memory."""
    number, raw = 1, stream.readline(MAX_FRAME_BYTES + 2).removeprefix(BYTE_ORDER_MARK)
    while raw:
        line = raw.removesuffix(b"\n")
        # A line over the limit is read in part, so it cannot be recognised as blank.
        if len(line) > MAX_FRAME_BYTES or line.strip(ASCII_SPACE):
            yield number, _parsed(line, number)
        while raw and not raw.endswith(b"\n"):
            raw = stream.readline(MAX_FRAME_BYTES)
        number, raw = number + 1, stream.readline(MAX_FRAME_BYTES + 2)


def _parsed(raw: bytes, number: int) -> Request | MalformedRequest:
    if len(raw) > MAX_FRAME_BYTES:
        return MalformedRequest(number, "bytes", f"at most {MAX_FRAME_BYTES}", str(len(raw)))
    try:
        value = strict_json(raw, nesting=MAX_FRAME_NESTING)
    except JsonRefused as refused:
        return MalformedRequest(number, "line", "one strict JSON object", refused.cause)
    asked = value.get("request") if isinstance(value, dict) else None
    if not isinstance(asked, dict):
        return MalformedRequest(number, "request", "object", json_type(asked))
    if ("since" in asked) == bool({"author", "resource"} & set(asked)):
        actual = "both" if "since" in asked else "none"
        return MalformedRequest(number, "request", "since and limit, or author and resource", actual)
    names = ("since",) if "since" in asked else ("author", "resource")
    texts = [("node", value.get("node")), ("to", value.get("to"))]
    texts += [(f"request.{name}", asked.get(name)) for name in names]
    for field, text in texts:
        if not isinstance(text, str):
            return MalformedRequest(number, field, "text", json_type(text))
    if "since" not in asked:
        return ResourceRequest(value["node"], value["to"], asked["author"], asked["resource"])
    limit = asked.get("limit")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        found = shown(str(limit)) if json_type(limit) == "integer" else json_type(limit)
        return MalformedRequest(number, "request.limit", "integer of at least 1", found)
    return JournalRequest(value["node"], value["to"], asked["since"], limit)

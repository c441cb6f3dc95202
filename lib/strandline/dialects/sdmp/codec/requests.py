"""Request files: what own nodes ask of peers, one JSON object a line, written in one spelling and read strictly."""

import json
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, BinaryIO, Final, TypeAlias

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.verdict import shown
from strandline.dialects.sdmp.codec.frames import MAX_FRAME_BYTES, MAX_FRAME_NESTING, json_type
from strandline.dialects.sdmp.codec.lines import BYTE_ORDER_MARK
from strandline.dialects.sdmp.codec.source import ASCII_SPACE
from strandline.dialects.sdmp.types import JournalRequest, MalformedRequest, ResourceRequest

Request: TypeAlias = JournalRequest | ResourceRequest

REQUEST_LIMIT: Final = 10_000
"""Lines that a journal request of ours asks for."""


def render_requests(requests: Iterable[Request]) -> bytes:
    """Return the request file: one object a line in the order given, compact, ASCII, each ended by LF."""
    return b"".join(_rendered(request) + b"\n" for request in requests)


def _rendered(request: Request) -> bytes:
    asked: dict[str, Any]
    if isinstance(request, JournalRequest):
        asked = {"since": request.since, "limit": request.limit}
    else:
        asked = {"author": request.author, "resource": request.resource}
    members = {"node": request.node, "to": request.to, "request": asked}
    return json.dumps(members, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def parse_requests(data: bytes) -> tuple[Request | MalformedRequest, ...]:
    """Return what each line of a request file asks, in its order; blank lines are skipped, nothing raises.

    These hold for a request, else it is malformed:
    - one strict JSON object a line, of at most 16 MiB; members that are not listed here are ignored;
    - `node` and `to` are texts;
    - `request` has `since`, a text, and `limit`, an integer of at least 1; or `author` and `resource`, texts;
      `since` and a pair do not stand together.

    That `since` names a line, and that `to` is one of ours, is for the answer to find.
    """
    return tuple(request for _, request in read_requests(BytesIO(data)))


def read_requests(stream: BinaryIO) -> Iterator[tuple[int, Request | MalformedRequest]]:
    """Yield the requests of a file as `parse_requests`, with their lines from 1; of a longer line 16 MiB are held."""
    number, raw = 1, stream.readline(MAX_FRAME_BYTES + 2).removeprefix(BYTE_ORDER_MARK)
    while raw:
        line = raw.removesuffix(b"\n")
        # Of a line over the limit nobody knows whether it is blank.
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

"""Answers to request files: the lines of own journals that peers ask for, as frames."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strandline.dialects.sdmp.codec import Request, batch
from strandline.dialects.sdmp.types import JournalRequest, MalformedRequest, ResourceRequest

MAX_ANSWER_LINES: Final = 50_000
"""Lines of one answer, whatever the request allows: what a frame may hold."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What became of a request file.

    `frames` follow the requests that they answer, without LF. `not_found`: no line of the journal has the number
    asked for. `refused` counts journal requests to nodes that are not own, by node, ascending; `resources` those
    for resources, which are passed over.
    """

    frames: tuple[bytes, ...]
    not_found: tuple[JournalRequest, ...]
    malformed: tuple[MalformedRequest, ...]
    refused: Mapping[str, int]
    resources: int


def answer(lines: Sequence[bytes], since: str, limit: int) -> list[bytes] | None:
    """Return the lines after the one whose number is `since`, or None if there is no such line.

    `lines` are the trunk of a journal, line 1 first; its fingerprint stands for the number that it lacks. At most
    min(limit, 50,000), none after the tip.

    Raises:
        ValueError: `limit` is below 1.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    wanted = since.encode("utf-8", "surrogatepass")
    for index, line in enumerate(lines):
        # Of line 1 the part before the @ that it lacks is all of it: the fingerprint.
        if line.partition(b"@")[0] == wanted:
            return list(lines[index + 1 : index + 1 + min(limit, MAX_ANSWER_LINES)])
    return None


def answers(requests: Iterable[Request | MalformedRequest], trunks: Mapping[str, Sequence[bytes]]) -> Answers:
    """Return the answers to requests, from the trunks of the own nodes by fingerprint, line 1 first.

    A journal request to an own node gets one frame, with no entries if it asks for what follows the tip.
    """
    frames: list[bytes] = []
    not_found: list[JournalRequest] = []
    malformed: list[MalformedRequest] = []
    refused: dict[str, int] = {}
    resources = 0
    for request in requests:
        if isinstance(request, MalformedRequest):
            malformed.append(request)
        elif isinstance(request, ResourceRequest):
            resources += 1
        elif request.to not in trunks:
            refused[request.to] = refused.get(request.to, 0) + 1
        elif (lines := answer(trunks[request.to], request.since, request.limit)) is None:
            not_found.append(request)
        else:
            frames.append(batch(request.to, request.since, lines))
    ascending = dict(sorted(refused.items()))
    return Answers(tuple(frames), tuple(not_found), tuple(malformed), ascending, resources)

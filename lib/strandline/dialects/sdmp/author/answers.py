"""Answers to request files: frames with the lines of local journals that peers ask for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strandline.core.verdict import shown
from strandline.dialects.sdmp.codec import Request, batch
from strandline.dialects.sdmp.types import JournalRequest, MalformedRequest, ResourceRequest

MAX_ANSWER_LINES: Final = 50_000
"""The maximum number of lines in one answer, whatever the request allows: the limit of a frame."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The result of answering a request file.

    `frames` are the answers in the order of their first requests, each without LF. `not_found` are requests whose
    `since` names no line of the journal. `refused` counts journal requests to nodes that are not local, by node
    as evidence shows it, sorted by node. `past_limit` are requests for which the answers would have had too many
    lines. `resources` counts requests for resources, which are ignored.
    """

    frames: tuple[bytes, ...]
    not_found: tuple[JournalRequest, ...]
    malformed: tuple[MalformedRequest, ...]
    refused: Mapping[str, int]
    past_limit: tuple[JournalRequest, ...]
    resources: int


def answer(lines: Sequence[bytes], since: str, limit: int) -> list[bytes] | None:
    """Return the lines after the one with the number `since`, or None if there is no such line.

    `lines` are the trunk of a journal, line 1 first; line 1 has no number and is named by its fingerprint. At most
    min(limit, 50,000) lines are returned; none if `since` names the tip.

    Raises:
        ValueError: `limit` is below 1.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    wanted = since.encode("utf-8", "surrogatepass")
    for index, line in enumerate(lines):
        # Line 1 has no @, so the whole line, the fingerprint, is compared.
        if line.partition(b"@")[0] == wanted:
            return list(lines[index + 1 : index + 1 + min(limit, MAX_ANSWER_LINES)])
    return None


def answers(
    requests: Iterable[Request | MalformedRequest], trunks: Mapping[str, Sequence[bytes]],
    most_lines: int = 1_000_000,
) -> Answers:  # fmt: skip
    """Return the answers to requests; `trunks` are the trunks of the local journals by fingerprint, line 1 first.

    A journal request to a local node gets one frame, which is empty if `since` names the tip. A frame names no asker:
    requests for the same lines, whoever asks, get one frame together. From the first request on with which the frames
    would have more than `most_lines` lines, no request whose line is found gets a new frame.
    """
    outcomes: dict[tuple[str, str, int], list[JournalRequest]] = {}
    frames: list[bytes] = []
    total = 0
    answered: list[JournalRequest] = []
    not_found: list[JournalRequest] = []
    past_limit: list[JournalRequest] = []
    malformed: list[MalformedRequest] = []
    refused: dict[str, int] = {}
    resources = 0
    for request in requests:
        if isinstance(request, MalformedRequest):
            malformed.append(request)
        elif isinstance(request, ResourceRequest):
            resources += 1
        elif request.to not in trunks:
            name = shown(request.to)
            refused[name] = refused.get(name, 0) + 1
        else:
            asked = request.to, request.since, min(request.limit, MAX_ANSWER_LINES)
            if asked not in outcomes:
                lines = answer(trunks[request.to], request.since, request.limit)
                total += len(lines or ())
                outcomes[asked] = (
                    not_found if lines is None else past_limit if total > most_lines else answered
                )
                if lines is not None and total <= most_lines:
                    frames.append(batch(request.to, request.since, lines))
            outcomes[asked].append(request)
    ascending = dict(sorted(refused.items()))
    return Answers(tuple(frames), tuple(not_found), tuple(malformed), ascending, tuple(past_limit), resources)

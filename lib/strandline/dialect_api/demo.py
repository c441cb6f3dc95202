"""What a dialect shows of itself in `strandline demo`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DemoFile:
    """One file of the demo: its name, a description, how many records it holds, its bytes."""

    name: str
    what: str
    records: int
    content: bytes


@dataclass(frozen=True, slots=True)
class DemoRejection:
    """A record of the demo that is rejected, the only one of its namespace: its file, and its reason.

    `title` says it in words. Its evidence has the members expected and actual, and perhaps position, field and note.
    """

    title: str
    file: str
    namespace: str
    reason: str


@dataclass(frozen=True, slots=True)
class Demo:
    """What a dialect shows of itself: files, by name, a rejection in them to explain, and two queries over them.

    `query` is asked and shown with its rows, `next_query` offered.
    """

    files: tuple[DemoFile, ...]
    rejection: DemoRejection
    query: str
    next_query: str

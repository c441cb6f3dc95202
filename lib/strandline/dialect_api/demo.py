"""The part of a dialect in `strandline demo`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DemoFile:
    """One file of the demo: its name, a description, its number of records, its bytes."""

    name: str
    what: str
    records: int
    content: bytes


@dataclass(frozen=True, slots=True)
class DemoRejection:
    """A rejected record of the demo, the only one of its namespace: its file and its reason.

    `title` describes it. Its evidence has the members expected and actual, and may have position, field and note.
    """

    title: str
    file: str
    namespace: str
    reason: str


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo of a dialect: files by name, a rejected record in them to explain, and two queries over them.

    The demo runs `query` and shows its rows; it suggests `next_query`.
    """

    files: tuple[DemoFile, ...]
    rejection: DemoRejection
    query: str
    next_query: str

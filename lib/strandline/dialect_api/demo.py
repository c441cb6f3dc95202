"""The part of a dialect in `strandline demo`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from strandline.dialect_api.info import GivenOption


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
class DemoPruning:
    """A namespace of the demo of which `gc` prunes more than half with the window `skip_window`.

    `file` holds all of its records and no others. `options` are files of sticky options that its reduction needs, by
    option.
    """

    file: DemoFile
    namespace: str
    skip_window: int
    options: Mapping[str, GivenOption] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo of a dialect: files by name, a rejected record in them to explain, and two queries over them.

    The demo runs `query` and shows its rows; it suggests `next_query`. `pruning` is what it prunes, if anything.
    """

    files: tuple[DemoFile, ...]
    rejection: DemoRejection
    query: str
    next_query: str
    pruning: DemoPruning | None = None

    @property
    def written(self) -> tuple[DemoFile, ...]:
        """All files, that of the pruned namespace last."""
        return self.files if self.pruning is None else (*self.files, self.pruning.file)

"""The interface of dialects whose journals can be written as the exact files that nodes keep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import BinaryIO

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs, LakeSnapshot


@dataclass(frozen=True, slots=True)
class Archive:
    """The journals that have an exact file, and the number of those that have none: they fork.

    `pieces`: namespace, content BINARY, records BIGINT; in the order of namespaces, and of a journal in that of its
    file. A piece has some MiB, a partition some tens of MiB.
    """

    pieces: DataFrame
    forked: int


@dataclass(frozen=True, slots=True)
class ArchivedJournal:
    """What a file holds: its number of lines, and the hash of the last one as its successor would name it."""

    lines: int
    tip: str


class Archives(ABC):
    """A dialect whose journals can be archived."""

    @abstractmethod
    def archive(self, lake: LakeSnapshot, jobs: Jobs, namespaces: tuple[str, ...] | None) -> Archive:
        """Return the exact files of these journals, or of all (None)."""

    @abstractmethod
    def archive_name(self, namespace: str) -> str:
        """Return the name of the file of a journal: a letter, then letters, digits, `.`, `-` and `_`."""

    @abstractmethod
    def verify_archived(self, namespace: str, file: BinaryIO) -> ArchivedJournal | None:
        """Return what an archived file holds, or None if it is not the whole chain of this journal."""

"""Keeps the tables of a local lake open in delta-rs, each until its next commit."""

from __future__ import annotations

from contextlib import suppress
from threading import local
from typing import TYPE_CHECKING

from strandline.tables.delta_log import newest_commit
from strandline.tables.delta_rs import open_table
from strandline.tables.location import Location

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from deltalake import DeltaTable


class OpenedTables(local):
    """The tables of one lake, each opened once for its newest commit by each thread."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._kept: dict[str, tuple[Hashable, DeltaTable]] = {}

    def table(self, table: str) -> DeltaTable | None:
        """Return a table at its current version, or None if the lake is not local.

        Raises: FaultError `TABLE_DAMAGED`; `TableNotFoundError` of delta-rs.
        """
        if not self._location.is_local():
            return None
        kept, opened = self._kept.get(table, (None, None))
        # Before the table is opened: a commit of another writer in between has it opened again.
        log = self._location.local_path() / table / "_delta_log"
        newest = _newest(log, -1 if opened is None else int(opened.version()))
        if opened is None or newest is None or kept != newest:
            opened = open_table(self._location, table)
            self._kept[table] = (newest, opened)
        return opened


def _newest(log: Path, known: int) -> Hashable | None:
    """Return what tells the newest commit and checkpoint of a log from any other, or None without a commit.

    `known` is a version as in `newest_commit`. A table that was recreated can have the same version, and a checkpoint,
    which its writer names in a file of its own, may be followed by the removal of commits.
    """
    checkpoint = None
    try:
        version = newest_commit(log, known)
        if version < 0:
            return None
        commit = _identity(log / f"{version:020}.json")
        with suppress(FileNotFoundError):
            checkpoint = _identity(log / "_last_checkpoint")
    except OSError:
        return None
    return version, commit, checkpoint


def _identity(file: Path) -> Hashable:
    found = file.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

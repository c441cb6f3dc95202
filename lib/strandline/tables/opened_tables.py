"""Keeps the tables of a local lake open in delta-rs, each until its next commit."""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING

from strandline.tables.delta_log import listed
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
        # Before the table is opened: a commit of another writer in between has it opened again.
        newest = _newest(self._location.local_path() / table / "_delta_log")
        kept, opened = self._kept.get(table, (None, None))
        if opened is None or newest is None or kept != newest:
            opened = open_table(self._location, table)
            self._kept[table] = (newest, opened)
        return opened


def _newest(log: Path) -> Hashable | None:
    """Return what tells the newest commit and checkpoint of a log from any other, or None without a commit.

    A table that was recreated can have the same version, and a checkpoint may be followed by the removal of commits.
    """
    try:
        commits, checkpoint = listed(log)
        version = max(commits, default=-1)
        if version < 0:
            return None
        file = commits[version].stat()
    except OSError:
        return None
    return version, checkpoint, file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns

"""What a process that was killed while it created a table of a local lake leaves: a log without commits."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from strandline.core.errors import FaultError
from strandline.tables.damage import has_table, table_damaged
from strandline.tables.location import Location

LOOKS: Final = 100
SECONDS_BETWEEN: Final = 0.05


def is_created(location: Location, table: str) -> bool:
    """Return whether the table is there, after a CREATE TABLE IF NOT EXISTS; if not, it can be repeated.

    Delta takes a folder `_delta_log` without commits as a table and creates none. Another process may just be about to
    commit: it has some seconds, unless there is no such folder. One in which nothing changed meanwhile is a leftover
    and is removed. One with a commit is never removed.
    Raises: FaultError TABLE_DAMAGED.
    """
    if not location.is_local():
        return True
    log = location.local_path() / table / "_delta_log"
    before = _changed_at(log)
    for _ in range(LOOKS):
        if has_table(location, table):
            return True
        if not log.exists():
            return False
        time.sleep(SECONDS_BETWEEN)
    if _changed_at(log) != before:
        # Another process removed the leftover and creates the table: its files must stay.
        return False
    with suppress(OSError):
        for name in before:
            if name.startswith("."):
                os.unlink(log / name)  # the temporary file of a commit
            elif name == "_staged_commits":
                (log / name).rmdir()
        log.rmdir()
    return False


def not_created(location: Location, table: str) -> FaultError:
    """Return the error of a table of a local lake that no CREATE TABLE makes."""
    folder = location.local_path() / table
    if (folder / "_delta_log").exists():
        return table_damaged(location, table, "its folder _delta_log has files, but no commit")
    return FaultError(
        "TABLE_ELSEWHERE",
        f"Spark created the table {table}, but not in {folder}: it looks for paths in another file system",
        "name a schema, or the URI of a lake in that file system",
    )


def _changed_at(log: Path) -> dict[str, int]:
    """Return when each file of a log changed, by its name; empty if there is no log."""
    with suppress(FileNotFoundError), os.scandir(log) as found:
        return {each.name: each.stat(follow_symlinks=False).st_mtime_ns for each in found}
    return {}

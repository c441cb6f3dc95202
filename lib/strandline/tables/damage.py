"""Damage that a table of a local lake shows before its rows are read: in its folder, its log, and what runs say of it.

Delta keeps a log of numbered commits, JSON lines each, and now and then a checkpoint, which sums up what is before it.
Readers pass over a commit of no bytes, or one that is a folder, without a word: the table silently is what it was a
version before. So the files of the log are looked at here: their sizes whenever a lake is opened, their content where a
reader failed.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strandline.core.errors import FaultError
from strandline.tables.delta_log import NUMBERED, actions_of, content_of, listed, newest_checksum
from strandline.tables.location import Location
from strandline.tables.run_versions import newest_runs

RESTORE: Final = (
    "restore it from a copy of the lake; without one make a new lake and bring the records with `strandline sync "
    "--from` a peer's lake, or `strandline ingest` of what `strandline export` wrote"
)
"""What to do about a damaged table."""

_COUNTED: Final = frozenset({"WRITE", "MERGE"})
"""Operations of which each file added or removed counts as one: a commit of them can be compared with its checksum."""


def table_damaged(location: Location, table: str, found: str, advice: str = "") -> FaultError:
    """Return the fault of a table that cannot be trusted; `found` names the file, `advice` replaces the usual one."""
    return FaultError(
        "TABLE_DAMAGED",
        f"the table {table} of {location.describe()} is damaged: {found}",
        advice or RESTORE,
    )


def is_there(location: Location, table: str) -> bool:
    """Return whether the folder of a table holds anything of a table: what a killed `init` left is nothing.

    Raises: FaultError TABLE_DAMAGED for a file, and for data without a log of it.
    """
    folder = location.local_path() / table
    if not os.path.lexists(folder):
        return False
    if not folder.is_dir():
        raise table_damaged(location, table, f"{folder} is no folder")
    log = folder / "_delta_log"
    if log.is_dir() and any(NUMBERED.fullmatch(name) for name in os.listdir(log)):
        return True
    if os.path.lexists(log) and not log.is_dir():
        raise table_damaged(location, table, f"{log} is no folder")
    if any(not name.startswith((".", "_delta_log")) for name in os.listdir(folder)):
        raise table_damaged(location, table, f"{log} holds no commit, and there is data beside it")
    return False


def check_log(location: Location, table: str) -> None:
    """See that no commit behind the newest checkpoint is passed over by readers, and that the last one is whole.

    Raises: FaultError TABLE_DAMAGED.
    """
    log = location.local_path() / table / "_delta_log"
    commits, checkpoint = listed(log)
    for version in sorted(commits):
        if version > checkpoint:
            wrong = _wrong_file(commits[version])
            if wrong is not None:
                raise table_damaged(location, table, wrong)
    if commits:
        wrong = _missing_commit(log, max(commits)) or _wrong_count(log, max(commits))
        if wrong is not None:
            raise table_damaged(location, table, wrong)


def culprit(location: Location, table: str) -> FaultError | None:
    """Return what is wrong with the log of a table that a reader failed on, None if its files show nothing."""
    log = location.local_path() / table / "_delta_log"
    hint = log / "_last_checkpoint"
    if not log.is_dir():
        return table_damaged(location, table, f"{log} is no folder")
    commits, checkpoint = listed(log)
    named = _last_checkpoint(hint)
    if named is not None and named != checkpoint:
        return table_damaged(
            location, table, f"{hint} names checkpoint {named}, which is not there",
            f"remove {hint}, which is a hint alone, if the commits before {named} are all there; else restore the "
            "table's folder from a copy of the lake",
        )  # fmt: skip
    expected = checkpoint + 1
    for version in sorted(each for each in commits if each > checkpoint):
        if version != expected:
            return table_damaged(location, table, f"{log / f'{expected:020d}.json'} is missing")
        wrong = _wrong_file(commits[version]) or _wrong_lines(commits[version])
        if wrong is not None:
            return table_damaged(location, table, wrong)
        expected += 1
    if checkpoint >= 0:
        files = sorted(log.glob(f"{checkpoint:020d}.checkpoint*"))
        return table_damaged(location, table, f"the checkpoint {files[0]} cannot be read")
    return None


def check_versions(location: Location, versions: Mapping[str, int]) -> None:
    """See that no table is at a version below one that a run read or wrote: its newest commits would be lost.

    `versions` are those of all tables, read after the table `run`. A table that `init` made anew begins anew.
    Raises: FaultError TABLE_DAMAGED.
    """
    begun: set[str] = set()
    for run in newest_runs(location.local_path() / "run"):
        for table, version in run.versions.items():
            if table in versions and table not in begun and versions[table] < version:
                log = location.local_path() / table / "_delta_log"
                raise table_damaged(
                    location, table,
                    f"it is at version {versions[table]}, and the run {run.run_id} names version {version}: "
                    f"{log / f'{versions[table] + 1:020d}.json'} is missing",
                )  # fmt: skip
        begun.update(run.created)


def _wrong_file(commit: Path) -> str | None:
    """Return what is wrong with a commit as a file."""
    try:
        found = commit.stat()
    except FileNotFoundError:
        # Delta cleans its log while others look at it.
        return None
    if not stat.S_ISREG(found.st_mode):
        return f"the commit {commit} is no file"
    return None if found.st_size else f"the commit {commit} is empty"


def _wrong_lines(commit: Path) -> str | None:
    """Return what is wrong with the content of a commit."""
    try:
        for line in content_of(commit).splitlines():
            if not isinstance(json.loads(line), dict):
                return f"the commit {commit} holds a line that is no action"
    except (OSError, ValueError):
        return f"the commit {commit} is cut or altered: it is no JSON"
    return None


def _missing_commit(log: Path, last: int) -> str | None:
    """Return the damage if the newest checksum is of a commit after the `last` one: Delta writes commits first."""
    newest = newest_checksum(log)
    commit = log / f"{newest:020d}.json"
    # Checked by its name: another process may have written both during the listing.
    if newest <= last or commit.exists():
        return None
    return f"{commit} is missing, but its checksum exists"


def _wrong_count(log: Path, version: int) -> str | None:
    """Return how the last commit contradicts the checksums beside it and the one before, as far as these are there."""
    before, after = _files(log, version - 1), _files(log, version)
    actions = list(actions_of(log / f"{version:020d}.json"))
    operation = next((each["commitInfo"].get("operation") for each in actions if "commitInfo" in each), None)
    if before is None or after is None or (operation not in _COUNTED and operation is not None):
        return None
    found = before + sum("add" in each for each in actions) - sum("remove" in each for each in actions)
    if found == after:
        return None
    return (
        f"{log / f'{version:020d}.json'} gives {found} data files and {log / f'{version:020d}.crc'} says {after}: "
        "one of the two was cut or altered"
    )


def _files(log: Path, version: int) -> int | None:
    """Return the number of data files that the checksum of a version states."""
    try:
        return int(json.loads(content_of(log / f"{version:020d}.crc"))["numFiles"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _last_checkpoint(hint: Path) -> int | None:
    try:
        return int(json.loads(content_of(hint))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None

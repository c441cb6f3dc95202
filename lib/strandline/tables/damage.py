"""Finds damage of a table of a local lake before its rows are read: in its folder, its log and the table `run`.

The log of a Delta table has numbered commits (JSON lines) and checkpoints, which sum up the commits before them.
Readers silently skip an empty commit or one that is a folder, and show the version before it. So this module checks the
sizes of the log's files whenever a lake is opened, and their content after a reader failed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strandline.contracts.shared_tables import RUNS
from strandline.core.errors import FaultError
from strandline.tables.delta_log import (
    NUMBERED,
    actions_of,
    content_of,
    json_of,
    lines_of,
    listed,
)
from strandline.tables.location import Location
from strandline.tables.run_versions import newest_runs

RESTORE: Final = (
    "restore it from a copy of the lake; without a copy, create a new lake and get the records of a peer's lake with "
    "`strandline sync --from PEER --to NEW`, or ingest files that were exported"
)
"""The next step for a damaged table."""

FILE_GONE: Final = re.compile(
    r"FILE_NOT_EXIST|FileNotFoundException|NoSuchFileException|No such file or directory"
)
"""What Spark and Hadoop say of a missing file: they name a cause, which has no condition."""

_COUNTED: Final = frozenset({"WRITE", "MERGE"})
"""Operations whose added and removed files are all counted: their commits can be compared with checksums."""


def table_damaged(location: Location, table: str, found: str, advice: str = "") -> FaultError:
    """Return the error of a damaged table; `found` names the file, `advice` replaces the default next step."""
    return FaultError(
        "TABLE_DAMAGED",
        f"the table {table} of {location.describe()} is damaged: {found}",
        advice or RESTORE,
    )


def has_table(location: Location, table: str) -> bool:
    """Return whether the folder has a table; the leftovers of a killed `init` are no table.

    Raises: FaultError TABLE_DAMAGED for a file instead of a folder, and for data without a log.
    """
    folder = location.local_path() / table
    if not os.path.lexists(folder):
        return False
    if not folder.is_dir():
        raise table_damaged(location, table, f"{folder} is not a folder")
    log = folder / "_delta_log"
    if log.is_dir():
        # Not listed as a whole: the log of a busy table has a hundred thousand files.
        with os.scandir(log) as files:
            if any(NUMBERED.fullmatch(file.name) for file in files):
                return True
    if os.path.lexists(log) and not log.is_dir():
        raise table_damaged(location, table, f"{log} is not a folder")
    if any(not name.startswith((".", "_delta_log")) for name in os.listdir(folder)):
        raise table_damaged(location, table, f"{log} has no commit, but {folder} has data")
    return False


def check_log(location: Location, table: str) -> None:
    """Check that readers skip no commit after the newest checkpoint, and that the last commit is complete.

    Raises: FaultError TABLE_DAMAGED.
    """
    log = location.local_path() / table / "_delta_log"
    commits, checkpoint, checksum = listed(log)
    for version in sorted(commits):
        if version > checkpoint:
            wrong = _wrong_file(commits[version])
            if wrong is not None:
                raise table_damaged(location, table, wrong)
    if commits:
        wrong = _missing_commit(log, max(commits), checksum) or _wrong_count(log, max(commits))
        if wrong is not None:
            raise table_damaged(location, table, wrong)


def log_damage(location: Location, table: str) -> FaultError | None:
    """Return the damage of a log after a reader failed on it, or None if its files show no damage."""
    log = location.local_path() / table / "_delta_log"
    hint = log / "_last_checkpoint"
    if not log.is_dir():
        return table_damaged(location, table, f"{log} is not a folder")
    commits, checkpoint, _ = listed(log)
    named = _last_checkpoint(hint)
    if named is not None and not any(log.glob(f"{named:020d}.checkpoint*")):
        return table_damaged(
            location, table, f"{hint} names checkpoint {named}, which does not exist",
            f"remove {hint}, which is only a hint, if all commits before {named} are there; else restore the table's "
            "folder from a copy of the lake",
        )  # fmt: skip
    expected = checkpoint + 1
    for version in sorted(each for each in commits if each > checkpoint):
        if version != expected:
            return table_damaged(location, table, f"{log / f'{expected:020d}.json'} is missing")
        wrong = _wrong_file(commits[version]) or _wrong_lines(commits[version])
        if wrong is not None:
            return table_damaged(location, table, wrong)
        expected += 1
    # A data file can be the cause, too: most tables have a checkpoint.
    for file in sorted(log.glob(f"{checkpoint:020d}.checkpoint*")):
        if _is_unreadable(file):
            return table_damaged(location, table, f"the checkpoint {file} cannot be read")
    return None


def check_versions(location: Location, versions: Mapping[str, int]) -> None:
    """Check that no table is at a lower version than a run read or wrote: its newest commits would be lost.

    `versions` has that of `run`, which was read before the others: later rows name later versions. The versions of a
    table that `init` recreated start again: rows of `run` from before that do not count, even if a RESTORE or a DELETE
    wrote them again.
    Raises: FaultError TABLE_DAMAGED.
    """
    runs = tuple(newest_runs(location.local_path() / RUNS, versions[RUNS]))
    made = {table: run.order for run in sorted(runs, key=lambda run: run.order) for table in run.created}
    recreated: set[str] = set()
    for run in runs:
        for table, version in run.versions.items():
            is_before = table in recreated or run.order < made.get(table, -1)
            if table in versions and not is_before and versions[table] < version:
                log = location.local_path() / table / "_delta_log"
                raise table_damaged(
                    location, table,
                    f"it is at version {versions[table]}, but the run {run.run_id} names version {version}: "
                    f"{log / f'{versions[table] + 1:020d}.json'} is missing",
                )  # fmt: skip
        recreated.update(run.created)


def _wrong_file(commit: Path) -> str | None:
    """Return what is wrong with the file of a commit."""
    try:
        found = commit.stat()
    except FileNotFoundError:
        # Delta can clean up its log at the same time.
        return None
    if not stat.S_ISREG(found.st_mode):
        return f"the commit {commit} is not a file"
    return None if found.st_size else f"the commit {commit} is empty"


def _wrong_lines(commit: Path) -> str | None:
    """Return what is wrong with the content of a commit."""
    try:
        for line in lines_of(commit):
            if not isinstance(json_of(line), dict):
                return f"the commit {commit} has a line that is not an action"
    except (OSError, ValueError):
        return f"the commit {commit} is cut or altered: it is not JSON"
    return None


def _is_unreadable(checkpoint: Path) -> bool:
    """Return whether a file of a checkpoint is cut or altered."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if checkpoint.suffix == ".json":
        return _wrong_lines(checkpoint) is not None
    try:
        with pq.ParquetFile(checkpoint, page_checksum_verification=True) as opened:
            for _ in opened.iter_batches():
                pass
    except (OSError, pa.ArrowException):
        return True
    return False


def _missing_commit(log: Path, last: int, newest: int) -> str | None:
    """Return the damage if the newest checksum is of a commit after the `last` one: Delta writes commits first."""
    commit = log / f"{newest:020d}.json"
    # Checked by its name: another process may have written both during the listing.
    if newest <= last or commit.exists():
        return None
    return f"{commit} is missing, but its checksum exists"


def _wrong_count(log: Path, version: int) -> str | None:
    """Return how the last commit contradicts its checksum and that of the version before, if both exist."""
    before, after = _files(log, version - 1), _files(log, version)
    if before is None or after is None:
        return None
    found, operation = before, None
    for each in actions_of(log / f"{version:020d}.json"):
        found += ("add" in each) - ("remove" in each)
        stated = each.get("commitInfo")
        if operation is None and isinstance(stated, dict):
            operation = stated.get("operation")
    if operation not in _COUNTED and operation is not None:
        return None
    if found == after:
        return None
    return (
        f"{log / f'{version:020d}.json'} leads to {found} files, but {log / f'{version:020d}.crc'} states {after}: "
        "one of them was cut or altered"
    )


def _files(log: Path, version: int) -> int | None:
    """Return the number of data files that the checksum of a version states."""
    try:
        return int(json_of(content_of(log / f"{version:020d}.crc"))["numFiles"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None


def _last_checkpoint(hint: Path) -> int | None:
    try:
        return int(json_of(content_of(hint))["version"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None


def is_from_delta_rs(error: BaseException) -> bool:
    """Return whether delta-rs raised `error`: it has a class of its own, or is an OSError without a number."""
    from deltalake.exceptions import DeltaError

    return isinstance(error, DeltaError) or (isinstance(error, OSError) and error.errno is None)

"""The newest commits of a table that delta-rs opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strandline.tables.delta_log import actions_of, listed

if TYPE_CHECKING:
    from pathlib import Path

    from deltalake import DeltaTable


def history(opened: DeltaTable, folder: Path | None, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the newest commits, newest first: `version`, `operation` (None if not stated) and what else they state.

    `folder` is that of a local table, else None. Then the log is read here if delta-rs does not give each commit of it.
    Raises: `DeltaError` of delta-rs for a table that is not local.
    """
    from deltalake.exceptions import DeltaError

    try:
        commits = opened.history(limit)
    except DeltaError:
        # So it ends at the first commit of a clone that Spark made, which has the read version -1.
        if folder is None:
            raise
        commits = []
    if folder is not None:
        files = _newest_files(folder, opened.version(), limit)
        # It passes over a commit that states nothing, and gives its version to the commit before.
        commits = commits if len(commits) == len(files) else [_stated(*each) for each in files]
    return [{"operation": None, **each} for each in commits]


def _newest_files(folder: Path, newest: int, limit: int | None) -> list[tuple[int, Path]]:
    commits, _ = listed(folder / "_delta_log")
    versions = sorted((each for each in commits if each <= newest), reverse=True)
    return [(version, commits[version]) for version in versions[:limit]]


def _stated(version: int, commit: Path) -> dict[str, Any]:
    """Return what a commit states; without a time that of its file, as Spark gives it."""
    stated: dict[str, Any] = next(
        (each["commitInfo"] for each in actions_of(commit) if "commitInfo" in each), {}
    )
    try:
        written = commit.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        # Delta removes old commits at the same time.
        written = 0
    return {"timestamp": written, **stated, "version": version}

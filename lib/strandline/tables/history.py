"""The newest commits of a table that delta-rs opened."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from strandline.tables.delta_log import actions_of, listed

if TYPE_CHECKING:
    from pathlib import Path

    from deltalake import DeltaTable


def history(opened: DeltaTable, folder: Path | None, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the newest commits, newest first: `version`, `operation` (None if not stated) and what else they state.

    `folder` is that of a local table, else None. The log of a local table is read here: delta-rs lists all of it, and
    asks for the size of each file, also for one commit. It ends at the first commit of a clone that Spark made, which
    has the read version -1, and passes over a commit that states nothing, whose version it gives to the one before.
    Raises: `DeltaError` of delta-rs for a table that is not local.
    """
    if folder is None:
        commits = opened.history(limit)
    else:
        commits = [_stated(*each) for each in _newest_files(folder / "_delta_log", opened.version(), limit)]
    return [{"operation": None, **each} for each in commits]


def _newest_files(log: Path, newest: int, limit: int | None) -> list[tuple[int, Path]]:
    if limit is not None:
        # A listing of a long log takes a second.
        asked = (
            (version, log / f"{version:020}.json") for version in range(newest, max(newest - limit, -1), -1)
        )
        return list(takewhile(lambda each: each[1].exists(), asked))
    return sorted(
        ((version, file) for version, file in listed(log).commits.items() if version <= newest), reverse=True
    )


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

"""The newest commits of a table that delta-rs opened."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from strandline.tables.delta_log import actions_of, listed

if TYPE_CHECKING:
    from pathlib import Path

    from deltalake import DeltaTable


def history(opened: DeltaTable, folder: Path | None, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the newest commits, newest first: `version`, `operation` (None if not stated) and what else they state.

    `folder` is that of a local table, else None. delta-rs fails on the first commit of a clone that Spark made, which
    has the read version -1. The log of a local table is then read here.
    Raises: `DeltaError` of delta-rs for a table that is not local.
    """
    from deltalake.exceptions import DeltaError

    try:
        commits = opened.history(limit)
    except DeltaError:
        if folder is None:
            raise
        commits = _stated(folder, opened.version(), limit)
    return [{"operation": None, **each} for each in commits]


def _stated(folder: Path, newest: int, limit: int | None) -> list[dict[str, Any]]:
    commits, _ = listed(folder / "_delta_log")
    versions = sorted((each for each in commits if each <= newest), reverse=True)
    return [
        {
            **next((each["commitInfo"] for each in actions_of(commits[version]) if "commitInfo" in each), {}),
            "version": version,
        }
        for version in islice(versions, limit)
    ]

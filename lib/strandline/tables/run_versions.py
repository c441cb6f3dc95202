"""The versions of tables that the newest runs name, read from the files of the table `run`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from strandline.tables.delta_log import actions_of, json_of

RUN_VERSION: Final = "run_version"
"""Member of a row's `detail`: the version of `run` right before the row was added, see `run_order.next_run_version`."""
REPAIRED: Final = "repaired_versions"
"""Member of a row's `detail`: by table, the version up to which the run found what runs without a row had left."""
RUNS_READ: Final = 32
"""Number of newest runs whose rows are read."""
_READ: Final = frozenset({"run_id", "command", "detail", "read_versions", "tables"})


class NamedVersions:
    """The versions of tables that a run read, wrote or repaired, and the tables that it created.

    `order` is the version of the table `run` before its row was added, -1 for a row that does not say it.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.run_id = str(row["run_id"])
        self.versions = {str(table): int(version) for table, version in row.get("read_versions") or ()}
        for table, written in row.get("tables") or ():
            self.versions[str(table)] = max(int(written["version"]), self.versions.get(str(table), -1))
        detail = detail_of(row)
        self.repaired = repaired_versions(detail)
        seen = detail.get(RUN_VERSION)
        self.order = seen if isinstance(seen, int) else -1
        self.created: tuple[str, ...] = tuple(detail.get("created", ())) if row["command"] == "init" else ()


def newest_runs(table: Path, newest: int) -> Iterator[NamedVersions]:
    """Yield the versions that the newest rows of the table `run` name at its version `newest`, newest commit first.

    A file that cannot be read is skipped.
    """
    for version in range(newest, max(newest - RUNS_READ, -1), -1):
        # By its name: each command would list the log of all commands.
        for action in actions_of(table / "_delta_log" / f"{version:020}.json"):
            added = action.get("add", {})
            path = added.get("path")
            # A file that OPTIMIZE wrote has only rows of earlier commits.
            if isinstance(path, str) and added.get("dataChange") is not False:
                for row in _rows(table / unquote(path)):
                    yield NamedVersions(row)


def detail_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a row's `detail`: none if it is no JSON object."""
    try:
        found = json_of((row.get("detail") or "{}").encode())
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def repaired_versions(detail: Mapping[str, Any]) -> dict[str, int]:
    """Return the member REPAIRED of a row's `detail`: empty if it has none."""
    found = detail.get(REPAIRED)
    if not isinstance(found, dict):
        return {}
    return {table: version for table, version in found.items() if isinstance(version, int)}


def _rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = {*file.schema_arrow.names}
            if not {"run_id", "command"} <= names:
                # With Delta's column mapping files can have other names of columns.
                return []
            rows: list[dict[str, Any]] = file.read(
                columns=sorted(_READ & names), use_threads=False
            ).to_pylist()
    except (OSError, ValueError):
        # A missing or damaged data file is reported when the table is read.
        return []
    return rows

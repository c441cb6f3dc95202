"""Sources and runs of the rows of a table; the write time is checked against the time of the run."""

from datetime import timedelta

from deltalake import DeltaTable

from support.lakes import Lake


def delivered(lake: Lake, table: str, *columns: str) -> list[tuple]:
    """These columns of all rows, then source and run; the time of a killed run is unknown, so it is not checked."""
    runs = {
        row["run_id"]: (row["started_at"], row["started_at"] + timedelta(seconds=row["seconds"]))
        for row in _rows(lake, "run", "run_id", "started_at", "seconds")
    }
    found = []
    for row in _rows(lake, table, *columns, "source", "run_id", "landed_at"):
        landed_at = row.pop("landed_at")
        began, ended = runs.get(row["run_id"], (landed_at, landed_at))
        assert began <= landed_at <= ended, row
        found.append(tuple(row.values()))
    return sorted(found, key=repr)


def sources(lake: Lake, table: str) -> set[str | None]:
    """Sources of the rows of a table."""
    return {source for source, _ in delivered(lake, table)}


def _rows(lake: Lake, table: str, *columns: str) -> list[dict]:
    return DeltaTable(str(lake.path / table)).to_pyarrow_table(columns=list(columns)).to_pylist()

"""Tells which runs have a row in `run`, which each writes last."""

from __future__ import annotations

from collections.abc import Iterable

from strandline.contracts.shared_tables import RUNS
from strandline.frames.listed import is_listed
from strandline.tables.reads import TableReads
from strandline.tables.run_versions import newest_runs


def unrecorded(tables: TableReads, run_ids: Iterable[str | None]) -> set[str]:
    """Return those of the run ids without a row in `run`: these runs were killed, or still run."""
    named = {each for each in run_ids if each is not None}
    if not named:
        return named
    few = tables.few_rows(RUNS)
    if few is not None:
        return named.difference(few.column("run_id").to_pylist())
    if tables.location.is_local():
        # Mostly they are among the newest ones, which need no job.
        for each in newest_runs(tables.location.local_path() / RUNS):
            named.discard(each.run_id)
            if not named:
                return named
    rows = tables.read(RUNS).where(is_listed("run_id", sorted(named))).select("run_id").distinct().collect()
    return named.difference(row["run_id"] for row in rows)

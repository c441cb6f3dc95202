"""Tells which runs have a row in `run`, which each writes last, and which runs without one wrote a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import RUNS
from strandline.frames.listed import is_listed
from strandline.tables.reads import TableReads
from strandline.tables.run_versions import newest_runs

ASKED_AT_ONCE: Final = (1, 2, 20, 200)
"""Of how many more runs that wrote a table `run` is asked, query by query: mostly the newest one repaired it."""
_COUNTS: Final = ("read", "authored", "reduced")


class RecordedRun(NamedTuple):
    """What the row of a run says of it: whether it judged the records that wait, and whether it reduced."""

    judges: bool
    reduces: bool

    @classmethod
    def of(cls, command: str, counts: Mapping[str, int | None]) -> RecordedRun:
        """Return what the command and its counts say; a row without counts is taken for a run that does both.

        `gc` and charges of contexts count no records that were read. `ingest` that only writes local journals reads 0.
        """
        found = {name: count for name, count in counts.items() if count is not None}
        if not found:
            return cls(judges=True, reduces=True)
        only_writes = command == "ingest" and not found.get("read") and "authored" in found
        return cls(judges="read" in found and not only_writes, reduces="reduced" in found)

    def repairs(self, table: str) -> bool:
        """Return whether the run repaired what it found in a table, if it wrote it."""
        return self.judges if contract(table).merge == "insert_only" else self.reduces


def partial_runs(tables: TableReads, writers: Mapping[str, Iterator[str]]) -> dict[str, str]:
    """Return, by table, the run without a row in `run` that last wrote it: it was killed, or still runs.

    `writers` are the ids of the runs that wrote each table, the newest first, each once. Runs that repair nothing hide
    none below them. If all of ASKED_AT_ONCE are such runs, nobody knows: the last of them counts as partial.
    """
    found: dict[str, str] = {}
    left = dict(writers)
    for most in ASKED_AT_ONCE:
        asked = {table: tuple(islice(ids, most)) for table, ids in left.items()}
        recorded = recorded_runs(tables, {each for ids in asked.values() for each in ids})
        for table, ids in asked.items():
            last = next((each for each in ids if each not in recorded or recorded[each].repairs(table)), None)
            if last is None and len(ids) == most:
                continue
            del left[table]
            if last is not None and last not in recorded:
                found[table] = last
    return found | {table: ids[-1] for table, ids in asked.items() if table in left}


def recorded_runs(tables: TableReads, run_ids: Iterable[str]) -> dict[str, RecordedRun]:
    """Return those of the runs that have a row in `run`, by id."""
    named = set(run_ids)
    if not named:
        return {}
    few = tables.few_rows(RUNS)
    if few is not None:
        ours = few.filter(pc.is_in(few["run_id"], pa.array(sorted(named), few.schema.field("run_id").type)))
        rows = ours.select(["run_id", "command", "counts"]).to_pylist()
        return {row["run_id"]: RecordedRun.of(row["command"], dict(row["counts"] or ())) for row in rows}
    found = {}
    if tables.location.is_local():
        # Mostly they are among the newest ones, which need no job.
        for each in newest_runs(tables.location.local_path() / RUNS, tables.version(RUNS)):
            if each.run_id in named:
                found[each.run_id] = RecordedRun.of(each.command, each.counts)
                if len(found) == len(named):
                    return found
    counts = [F.try_element_at("counts", F.lit(name)).alias(name) for name in _COUNTS]
    listed = tables.read(RUNS).where(is_listed("run_id", sorted(named - found.keys())))
    for row in listed.select("run_id", "command", *counts).distinct().collect():
        found[row["run_id"]] = RecordedRun.of(row["command"], {name: row[name] for name in _COUNTS})
    return found

"""Finds runs without a row in `run` whose MERGEs no later run has repaired."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from strandline.contracts.shared_tables import RUNS
from strandline.frames.listed import is_listed
from strandline.tables.reads import TableReads
from strandline.tables.run_versions import detail_of, newest_runs, repaired_versions

ASKED_AT_ONCE: Final = (1, 2, 20, 200)
"""Of how many more runs that wrote a table `run` is asked, query by query: mostly the newest one repaired it."""

Merge = tuple[int, str]
"""The version of a MERGE, and the id of its run."""
Rows = Mapping[str, Mapping[str, int] | None]
"""By id of a run, the versions that its row names as repaired; None for a run without a row."""


@dataclass(slots=True)
class PartialSearch:
    """Searches the MERGEs of a table, newest first, for one of a run without a row that no run has repaired.

    The row of a run names the version that the table had before the run read it: what runs without a row had left up to
    there, this run, or one before it, has repaired. All above came later, also if it is below the MERGE of this run.
    Rows that name no version of the table are of runs that repair nothing in it.
    """

    table: str
    merges: Iterator[Merge]
    partial: str | None = None
    is_over: bool = False
    _repaired: int = -1
    _ahead: deque[Merge] = field(default_factory=deque)

    def unknown(self, rows: Rows, most: int) -> set[str]:
        """Return at most so many runs that decide next, of those that `rows` does not have."""
        found = {run_id for _, run_id in self._ahead if run_id not in rows}
        while len(found) < most and (merge := next(self.merges, None)) is not None:
            self._ahead.append(merge)
            version, run_id = merge
            if version <= self._repaired:
                break
            if run_id not in rows:
                found.add(run_id)
        return found

    def go_on(self, rows: Rows) -> None:
        """Go on as far as `rows` tells. `partial` is then the run that was found; else None, if this `is_over`."""
        while not self.is_over:
            merge = self._ahead.popleft() if self._ahead else next(self.merges, None)
            if merge is None or merge[0] <= self._repaired:
                self.is_over = True
                return
            version, run_id = merge
            if run_id not in rows:
                self._ahead.appendleft(merge)
                return
            row = rows[run_id]
            if row is None:
                self.partial, self.is_over = run_id, True
            elif (repaired := row.get(self.table, -1)) < version:
                # Else it read another table of this name: a run reads before it writes.
                self._repaired = max(self._repaired, repaired)
                self.is_over = self._repaired == version - 1

    def give_up(self) -> None:
        """Take the next run for a partial one: this run then repairs the table, and the next one stops there."""
        if not self.is_over:
            self.partial = self._ahead[0][1]


def partial_runs(
    merges: Mapping[str, Iterator[Merge]], recorded: Callable[[set[str]], dict[str, Mapping[str, int]]]
) -> dict[str, str]:
    """Return, by table, a run without a row in `run` whose MERGE nobody repaired: it was killed, or still runs.

    `merges` are those of each table, newest first; `recorded` is `recorded_runs` of the lake. If ASKED_AT_ONCE runs do
    not decide, the next one counts as partial.
    """
    searches = [PartialSearch(table, each) for table, each in merges.items()]
    rows: dict[str, Mapping[str, int] | None] = {}
    for most in ASKED_AT_ONCE:
        asked = {run_id for each in searches if not each.is_over for run_id in each.unknown(rows, most)}
        rows |= dict.fromkeys(asked) | (recorded(asked) if asked else {})
        for each in searches:
            each.go_on(rows)
    for each in searches:
        each.give_up()
    return {each.table: each.partial for each in searches if each.partial is not None}


def recorded_runs(tables: TableReads, named: set[str]) -> dict[str, Mapping[str, int]]:
    """Return those of the runs that have a row in `run`, by id: the versions that it names as repaired, by table."""
    few = tables.few_rows(RUNS)
    if few is not None:
        ours = few.filter(pc.is_in(few["run_id"], pa.array(sorted(named), few.schema.field("run_id").type)))
        rows = ours.select(["run_id", "detail"]).to_pylist()
        return {row["run_id"]: repaired_versions(detail_of(row)) for row in rows}
    found: dict[str, Mapping[str, int]] = {}
    if tables.location.is_local():
        # Mostly they are among the newest ones, which need no job.
        for each in newest_runs(tables.location.local_path() / RUNS, tables.version(RUNS)):
            if each.run_id in named:
                found[each.run_id] = each.repaired
                if len(found) == len(named):
                    return found
    listed = tables.read(RUNS).where(is_listed("run_id", sorted(named - found.keys())))
    for row in listed.select("run_id", "detail").collect():
        found[row["run_id"]] = repaired_versions(detail_of(row.asDict()))
    return found

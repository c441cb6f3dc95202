"""Finds out whether a run must repair tables that a killed, or a raced, run wrote last."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final

from strandline.tables.commits import METADATA_OF_COMMIT
from strandline.tables.merges import TableMerges
from strandline.tables.metadata import is_merge
from strandline.tables.recorded_runs import partial_runs

RACED: Final = "-raced"
"""What follows the id of a run in the id of the mark that it leaves: see `TableStore.mark_race`."""


class TableRepairs(TableMerges):
    """The tables of one lake, with what a run repairs in them."""

    def begin_repair(self, tables: tuple[str, ...], *, still: bool = False) -> bool:
        """Begin to repair the tables if the last other run that wrote one has no row in `run`. Return whether.

        That run was killed, or is still running. Runs that repair nothing, such as `gc`, do not count. MERGEs of this
        run do not count, either: in a table of all dialects they may be those of another dialect. With `still` they do:
        a table that this run has written is repaired.

        From now on the MERGEs of this run into these tables commit even if they change nothing, so that it becomes the
        last writer, and the next run has nothing to repair. The caller must write what that run may have left.
        """
        return bool(self._begin_repair(tables, still=still))

    def begin_repair_of(self, table: str) -> str | None:
        """Begin to repair one table, as `begin_repair` does. Return the id of the run without a row, or None."""
        return self._begin_repair((table,), still=False).get(table)

    def _begin_repair(self, tables: tuple[str, ...], *, still: bool) -> dict[str, str]:
        found = self.partial_runs(tables, still=still)
        if found:
            self._commit_always.update(tables)
        return found

    def partial_runs(self, tables: Iterable[str], *, still: bool) -> dict[str, str]:
        """Return, by table, the last run to write it if it has no row in `run`; `still` as in `begin_repair`."""
        return partial_runs(self, {table: self._writers(table, still=still) for table in tables})

    def hides_mark(self, table: str, version: int) -> bool:
        """Return whether this run merged into a table above a mark that a run left there after a version.

        Runs that begin later look no further than the MERGE of this one, which has not seen what the mark stands for.
        """
        merges = filter(is_merge, self.commits_after(table, version))
        runs = [str(each.get(METADATA_OF_COMMIT)) for each in merges]
        named = [each for each in runs if each == self.run_id or each.endswith(RACED)]
        return named[:1] == [self.run_id] and set(named) != {self.run_id}

    def _writers(self, table: str, *, still: bool) -> Iterator[str]:
        """Yield the ids of the runs that merged into a table, the newest first, each once; `still`: up to this run.

        A MERGE of an operator names no run: it hides none. Where another process can have had the id of this run, the
        MERGEs below the first one of this process are those of an attempt that was killed.
        """
        passed: set[str] = set()
        first = self._first_merges.get(table, math.inf) if self.attempt else -1
        for merge in self.merges(table):
            run_id = merge.get(METADATA_OF_COMMIT)
            if run_id == self.run_id and merge["version"] >= first:
                if still:
                    return
            elif run_id is not None and run_id not in passed:
                passed.add(run_id)
                yield run_id

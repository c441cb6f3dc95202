"""Finds out whether a run must repair tables that a killed, or a raced, run wrote last."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from strandline.tables.commits import METADATA_OF_COMMIT
from strandline.tables.merges import TableMerges
from strandline.tables.metadata import is_merge
from strandline.tables.recorded_runs import partial_runs, recorded_runs


class TableRepairs(TableMerges):
    """The tables of one lake, with what a run repairs in them."""

    def begin_repair(self, tables: tuple[str, ...], *, still: bool = False) -> bool:
        """Begin to repair the tables if a run without a row in `run` wrote one, and nobody repaired it. Return whether.

        That run was killed, or is still running. MERGEs of this run do not count: in a table of all dialects they may
        be those of another dialect. With `still` they do: a table that this run has written is repaired.

        The caller must write what that run may have left. The row of this run then says that the tables are repaired
        (`repaired_versions`). It is found by a MERGE of this run, so from now on its MERGEs into these tables commit
        even if they change nothing.
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
        """Return, by table, a run without a row in `run` that wrote it; `still` as in `begin_repair`."""
        merges = {table: self._merges_of_runs(table, still=still) for table in tables}
        return partial_runs(merges, self._recorded_runs)

    def _recorded_runs(self, run_ids: set[str]) -> dict[str, Mapping[str, int]]:
        return recorded_runs(self, run_ids)

    def note_repaired(self, table: str, version: int) -> None:
        """Note the version of a table before this run reads it: what was left up to there, this run sees."""
        self.repaired_versions.setdefault(table, version)

    def _merges_of_runs(self, table: str, *, still: bool) -> Iterator[tuple[int, str]]:
        """Yield the MERGEs of other runs into a table, newest first; `still`: up to those of this run.

        A MERGE of an operator names no run. Where another process can have had the id of this run, the MERGEs below the
        first one of this process are those of an attempt that was killed.
        """
        first = self._first_merges.get(table, math.inf) if self.attempt else -1
        for commit in self.every_commit(table):
            version, run_id = int(commit["version"]), commit.get(METADATA_OF_COMMIT)
            self.note_repaired(table, version)
            if not is_merge(commit) or run_id is None:
                continue
            if run_id != self.run_id or version < first:
                yield version, run_id
            elif still:
                return

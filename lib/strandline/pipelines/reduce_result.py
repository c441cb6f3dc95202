"""What a reduction did, and how a run that reduced ends: `reduce`, and `sync` in both forms."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from strandline.dialect_api.refusals import Refused
from strandline.pipelines.report import EXIT_CODES, Outcome, ReportError, SomeNamespaces
from strandline.pipelines.runs import RunResult
from strandline.tables.written import Written, add_written


@dataclass(slots=True)
class ReduceResult:
    """The results of a reduction so far.

    `differences` and `damaged` have some namespaces by table, `refused` by dialect the namespaces that were not
    reduced. `members` are those of the row of the run: later runs read them.
    """

    written: dict[str, Written] = field(default_factory=dict)
    read_versions: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"new_records": 0, "reduced": 0})
    namespaces: int = 0
    differences: dict[str, SomeNamespaces] = field(default_factory=dict)
    damaged: dict[str, SomeNamespaces] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)
    members: dict[str, Any] = field(default_factory=dict)

    def add(self, table: str, written: Written) -> None:
        """Add a commit to those of its table."""
        add_written(self.written, {table: written})

    def note_refused(self, dialect: str, found: Refused | None) -> None:
        """Note what the newest reduction of a dialect refused: it has all namespaces of one before."""
        self.refused.pop(dialect, None)
        if found is not None:
            self.refused[dialect] = found


def with_reduction(result: RunResult, done: ReduceResult) -> RunResult:
    """Return the result of a run that reduced; `result` is that of its other work, with all counts and commits.

    The worse outcome holds: `fault` if a namespace was refused, `found` if rows differ or columns are damaged. If both
    have an error, that of the other work is returned.
    """
    error = result.error or _refusal(done)
    reduced: Outcome = "found" if done.differences or done.damaged else "ok"
    return replace(
        result,
        outcome="fault" if error else max(result.outcome, reduced, key=EXIT_CODES.__getitem__),
        read_versions=done.read_versions,
        members={**done.members, **result.members},
        error=error,
    )


def _refusal(done: ReduceResult) -> ReportError | None:
    """Return the error of a run that did not reduce some namespaces, or None: that of the first of them."""
    refused = tuple(done.refused.values())
    if not refused:
        return None
    first, others = refused[0].first[0], sum(each.total for each in refused) - 1
    more = f" {others:,} more namespaces were not reduced." if others else ""
    return ReportError(
        first.code, f"{first.message}{more}", f"All other namespaces were reduced. {first.next}"
    )

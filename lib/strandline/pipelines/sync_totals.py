"""The totals of a `sync --from` over all dialects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from strandline.core.errors import FaultError
from strandline.pipelines.comparison import Comparison
from strandline.pipelines.local_journals import WrittenJournals
from strandline.pipelines.report import Outcome, ReportError
from strandline.pipelines.runs import RunResult, fault_error
from strandline.tables.written import Written, add_written


@dataclass(slots=True)
class SyncTotals:
    """The totals of one run over all dialects."""

    source: str
    dry_run: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    written: dict[str, Written] = field(default_factory=dict)
    plan: list[Mapping[str, object]] = field(default_factory=list)
    stopped: dict[str, list[str]] = field(default_factory=dict)
    examples: dict[str, dict[str, str]] = field(default_factory=dict)
    namespaces: int = 0
    faults: int = 0
    damages: list[FaultError] = field(default_factory=list)

    def compared(self, found: Comparison) -> None:
        """Add the comparison of one dialect."""
        missing = found.records + found.incomparable
        self.counts.update(equal=found.equal, behind=found.behind, missing=missing)
        self.counts.update(pruned_there=found.pruned_there, incomplete=found.incomplete)
        self.namespaces += found.namespaces
        self.plan += found.plan

    def add_journals(self, table: str, done: WrittenJournals) -> None:
        """Add the result of the writer of local journals."""
        self.counts["authored"] += done.authored
        self.stopped |= {node: list(codes) for node, codes in done.stopped.items()}
        if done.written is not None:
            self.add({table: done.written})

    def add(self, written: Mapping[str, Written]) -> None:
        """Add commits."""
        add_written(self.written, written)

    def members(self) -> dict[str, object]:
        """Return the members of the report of this command."""
        return {
            "from": self.source, "plan": self.plan, "examples": self.examples, "stopped": self.stopped,
            "dry_run": self.dry_run,
        }  # fmt: skip

    def result(self) -> RunResult:
        """Return the result of the run without that of its reduction."""
        return RunResult(
            outcome=self._outcome(), counts=dict(self.counts), reasons=dict(self.reasons), namespaces=self.namespaces,
            written=self.written, members=self.members(), error=self._error(),
        )  # fmt: skip

    def _error(self) -> ReportError | None:
        """Return the error of a run that could not copy the records of a dialect, or met internal faults, or None."""
        if not self.damages:
            return fault_error(self.faults, self.reasons)
        first = self.damages[0]
        return ReportError(first.code, "; ".join(damage.message for damage in self.damages), first.next)

    def _outcome(self) -> Outcome:
        if self.faults or self.damages:
            return "fault"
        return "found" if self.stopped or self.counts["refused"] else "ok"

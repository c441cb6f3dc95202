"""Ends every command that writes: makes its report and the row of the table `run`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from strandline.contracts.reasons import reasons as known_reasons
from strandline.kernels.guard import FAULTS, INTERNAL_ERROR
from strandline.pipelines.report import Outcome, Report, ReportError, TableChange
from strandline.pipelines.run_context import RunContext
from strandline.tables.run_order import next_run_version
from strandline.tables.run_versions import REPAIRED, RUN_VERSION
from strandline.tables.store import TableStore
from strandline.tables.written import Written

if TYPE_CHECKING:
    from strandline.tables.read_lake import ReadLake

ARGUMENTS: Final = "arguments"
"""Member of a row's `detail`: the hash of the options of a command whose run id was given."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did: the fields of its row and its report, as in `Report`.

    `dialect` is given if the run read records of one dialect only; `written` are the commits by table.
    """

    outcome: Outcome = "ok"
    dialect: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    namespaces: int = 0
    read_versions: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, Written] = field(default_factory=dict)
    members: Mapping[str, Any] = field(default_factory=dict)
    error: ReportError | None = None


def fault_error(faults: int, reasons: Mapping[str, int]) -> ReportError | None:
    """Return the error of a run in which so many records met an internal fault, None without one.

    It has the meaning and the advice of the reason; `reasons` are those of the report.
    """
    if not faults:
        return None
    found = known_reasons()[next((code for code in FAULTS if reasons.get(code)), INTERNAL_ERROR)]
    return ReportError(found.code, found.meaning, found.advice)


def record_run(store: TableStore, context: RunContext, result: RunResult) -> Report:
    """Write the row of the run, as its last commit, and return the report.

    A kill before this commit leaves the tables whole but the run without a row; the next run of the same input finds
    its records known.
    """
    report = context.report(
        store.location.describe(),
        outcome=result.outcome,
        counts=result.counts,
        reasons=result.reasons,
        namespaces=result.namespaces,
        tables={table: TableChange(each.version, each.inserted) for table, each in result.written.items()},
        members=result.members,
    )
    report = replace(report, error=result.error, read_versions=result.read_versions)
    further: dict[str, object] = {} if context.arguments is None else {ARGUMENTS: context.arguments}
    if store.repaired_versions:
        further[REPAIRED] = store.repaired_versions
    context.progress.stage("writing the report to run")
    row = {
        "run_id": report.run_id,
        "command": report.command,
        "version": context.version,
        "outcome": report.outcome,
        "exit": report.exit,
        "seconds": report.seconds,
        "lake": report.lake,
        "dialect": result.dialect,
        "namespaces": report.namespaces,
        "counts": dict(report.counts),
        "reasons": dict(report.reasons),
        "read_versions": dict(report.read_versions),
        "tables": {name: asdict(change) for name, change in report.tables.items()},
        "error": None if report.error is None else asdict(report.error),
        "detail": json.dumps(
            {**report.members, **further, RUN_VERSION: next_run_version(store)}, sort_keys=True, default=str
        ),
    }
    store.append_run(row, context.started_at)
    return report


def recorded_run(lake: ReadLake, run_id: str) -> Report | None:
    """Return the report of a run as its row in `run` tells it, or None without such a row.

    `run_id` has no quotes or backslashes. Its members have `repeated`, which is true, and those of `detail`.
    """
    rows = lake.query(f"SELECT * FROM run WHERE run_id = '{run_id}'", ("run",))
    if not rows:
        return None
    row = rows[0]
    members = json.loads(row["detail"] or "{}")
    for name in (RUN_VERSION, REPAIRED):
        members.pop(name, None)
    changes = dict(row["tables"] or ())
    return Report(
        command=row["command"],
        run_id=run_id,
        outcome=row["outcome"],
        exit=row["exit"],
        seconds=row["seconds"],
        lake=row["lake"],
        counts=dict(row["counts"] or ()),
        reasons=dict(row["reasons"] or ()),
        namespaces=row["namespaces"] or 0,
        tables={name: TableChange(each["version"], each["inserted"]) for name, each in changes.items()},
        error=None if row.get("error") is None else ReportError(*(row["error"][name] for name in _ERROR)),
        members={**members, "repeated": True},
        read_versions=dict(row["read_versions"] or ()),
    )


_ERROR: Final = ("code", "message", "next")

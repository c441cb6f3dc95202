"""Ends every command that writes: makes its report and the row of the table `run`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from strandline.pipelines.report import Outcome, Report, ReportError, TableChange
from strandline.pipelines.run_context import RunContext
from strandline.tables.run_order import RUN_VERSION
from strandline.tables.store import TableStore, Written

if TYPE_CHECKING:
    from strandline.tables.read_lake import ReadLake

ARGUMENTS: Final = "arguments"
"""Member of a row's `detail`: the hash of the options of a command whose run id was given."""


def record_run(
    store: TableStore,
    context: RunContext,
    *,
    outcome: Outcome = "ok",
    dialect: str | None = None,
    counts: Mapping[str, int] | None = None,
    reasons: Mapping[str, int] | None = None,
    namespaces: int = 0,
    read_versions: Mapping[str, int] | None = None,
    written: Mapping[str, Written] | None = None,
    members: Mapping[str, Any] | None = None,
    error: ReportError | None = None,
) -> Report:
    """Write the row of the run, as its last commit, and return the report.

    A kill before this commit leaves the tables whole but the run without a row; the next run of the same input finds
    its records known.
    """
    changes = {table: TableChange(each.version, each.inserted) for table, each in (written or {}).items()}
    report = context.report(
        store.location.describe(),
        outcome=outcome,
        counts=counts,
        reasons=reasons,
        namespaces=namespaces,
        tables=changes,
        members=members,
    )
    report = replace(report, error=error, read_versions=dict(read_versions or {}))
    further = {} if context.arguments is None else {ARGUMENTS: context.arguments}
    context.progress.stage("writing the report to run")
    row = {
        "run_id": report.run_id,
        "command": report.command,
        "version": context.version,
        "outcome": report.outcome,
        "exit": report.exit,
        "started_at": context.started_at,
        "seconds": report.seconds,
        "lake": report.lake,
        "dialect": dialect,
        "namespaces": report.namespaces,
        "counts": dict(report.counts),
        "reasons": dict(report.reasons),
        "read_versions": dict(read_versions or {}),
        "tables": {
            name: {"version": change.version, "inserted": change.inserted} for name, change in changes.items()
        },
        "error": None if error is None else asdict(error),
        "detail": json.dumps(
            {**report.members, **further, RUN_VERSION: store.version("run")}, sort_keys=True, default=str
        ),
    }
    store.append_run(row)
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
    members.pop(RUN_VERSION, None)
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

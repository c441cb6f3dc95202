"""`check`: checks every invariant of a lake and reports the rows that break one. No table changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from strandline.contracts.checks import Check, checks
from strandline.contracts.load import tables
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.tables import lake
from strandline.tables.checks import find_broken
from strandline.tables.store import TableStore
from strandline.tables.work_settings import SMALL_WORK_BYTES

ROWS: Final = 10
"""Maximum number of reported rows per check."""
JOB_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes that the checks of one job read together; a table counts once per check."""


def run(store: TableStore, context: RunContext) -> Report:
    """Return which invariants hold, and the first rows of each broken one; with a broken one the outcome is `found`.

    `counts` has `checks` and `broken`. The member `checks` lists all in the order of running, each with `check`,
    `tables` and `holds`; the member `broken` lists the broken ones, also with `description`, `rows` and `more` (there
    are more rows). A check whose tables are all empty holds without a query.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, TABLE_MISSING.
    """
    lake.check_there(store)
    every = checks(buckets=store.buckets)
    context.progress.stage("tables")
    sizes = {table: store.stored_bytes(table) for table in tables()}
    found: dict[Check, list[str]] = {}
    for asked, work_bytes in jobs(every, sizes):
        context.progress.stage(", ".join(dict.fromkeys(check.name for check in asked)))
        is_small = work_bytes <= SMALL_WORK_BYTES
        with store.sized(work_bytes):
            rows = find_broken(store.spark, asked, store.read, most=ROWS + 1, is_small=is_small)
        for check, row in rows:
            found.setdefault(check, []).append(row)
    broken = [_broken(check, found[check]) for check in every if check in found]
    return context.report(
        store.location.describe(),
        outcome="found" if broken else "ok",
        counts={"checks": len(every), "broken": len(broken)},
        members={
            "checks": [
                {"check": check.name, "tables": list(check.tables), "holds": check not in found}
                for check in every
            ],
            "broken": broken,
        },
    )


def jobs(every: Sequence[Check], sizes: Mapping[str, int]) -> Iterator[tuple[tuple[Check, ...], int]]:
    """Yield the checks of each job and the bytes that they read. Checks without rows to read are left out.

    `sizes` gives the bytes of each table. Small checks share a job; a large check has its own.
    """
    together: list[Check] = []
    work_bytes = 0
    for check in every:
        size = sum(sizes[table] for table in check.tables)
        if not size:
            continue
        if together and work_bytes + size > JOB_BYTES:
            yield tuple(together), work_bytes
            together, work_bytes = [], 0
        together.append(check)
        work_bytes += size
    if together:
        yield tuple(together), work_bytes


def _broken(check: Check, rows: Sequence[str]) -> dict[str, Any]:
    return {
        "check": check.name,
        "tables": list(check.tables),
        "description": check.description,
        "rows": [_values(row) for row in rows[:ROWS]],
        "more": len(rows) > ROWS,
    }


def _values(row: str) -> Any:
    """Return a row as JSON values; a row that was cut stays a text."""
    try:
        return json.loads(row)
    except ValueError:
        return row

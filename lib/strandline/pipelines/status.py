"""`status`: the health of every namespace, worst first, and the unreduced record tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from strandline.core.ids import namespace_prefixes, namespaces_named, only_one, unknown_namespace
from strandline.pipelines.damaged import damaged_files
from strandline.pipelines.health_rows import (
    HEALTHS,
    ROWS,
    TABLES,
    as_json,
    begins_with_one_of,
    every_row,
    is_one_of,
    names_sql,
    rows_sql,
)
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spooled import SpooledRows

if TYPE_CHECKING:
    from strandline.dialect_api.health import HealthPart, HealthSql
    from strandline.tables.read_lake import ReadLake, Row

REDUCED_SQL = "SELECT dialect, max(reduced_version) AS reduced_version FROM namespace_state GROUP BY dialect"


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """The arguments of `status`: namespaces (none: all), all rows or the 50 worst, exit code 1 for a finding."""

    namespaces: tuple[str, ...] = ()
    all: bool = False
    check: bool = False


@dataclass(frozen=True, slots=True)
class Unreduced:
    """A record table with rows that `reduce` has not read: its version, and the last version that was read."""

    table: str
    version: int
    reduced_version: int | None


def run(
    lake: "ReadLake",
    record_tables: Mapping[str, str],
    request: StatusRequest,
    context: RunContext,
    healths: Sequence["HealthSql"] = (),
) -> Report:
    """Return the status of the lake from its tables, worst first.

    `record_tables` gives the table of accepted records of each dialect, `healths` the health of local nodes.
    Raises: UsageError `NAMESPACE_UNKNOWN`, `NAMESPACE_AMBIGUOUS`; FaultError `TABLE_DAMAGED`.
    """
    tables = tuple(dict.fromkeys((*TABLES, *(table for each in healths for table in each.tables))))
    lacking = [select for each in healths for select in _open_selects(lake, each.behind, each.tables)]
    shown: list[Row] | SpooledRows
    if request.namespaces:
        wanted = resolve(request.namespaces, lake, lacking, tables)
        rows = lake.query(rows_sql(None, lacking, is_one_of(wanted), tables), tables)
        tally = Counter(row["health"] for row in rows)
        shown = rows if request.all else rows[:ROWS]
    else:
        tally, shown = every_row(lake, lacking, tables, is_all=request.all)
    behind = unreduced(lake, record_tables)
    stopped = stopped_writers(lake, healths)
    found = request.check and (
        bool(behind) or bool(stopped) or any(tally[name] for name in ("forked", "waiting", "behind"))
    )
    return context.report(
        lake.location.describe(),
        outcome="found" if found else "ok",
        counts={name: tally[name] for name in HEALTHS},
        namespaces=tally.total(),
        members={
            "rows": shown if isinstance(shown, SpooledRows) else [as_json(row) for row in shown],
            "unreduced": [asdict(one) for one in behind],
            "stopped": stopped,
            **damaged_files(lake),
        },
    )


def _open_selects(lake: "ReadLake", parts: Sequence["HealthPart"], tables: Sequence[str]) -> list[str]:
    """Return the SELECTs without a gate, or with a gate that finds rows."""
    return [
        part.select
        for part in parts
        if part.gate is None or any(row["found"] for row in lake.query(part.gate, tables))
    ]


def stopped_writers(lake: "ReadLake", healths: Sequence["HealthSql"]) -> dict[str, list[str]]:
    """Return the local nodes whose writers stopped, ascending, with their reason codes."""
    found: dict[str, set[str]] = {}
    for health in healths:
        for select in _open_selects(lake, health.stopped, health.tables):
            for row in lake.query(select, health.tables):
                found.setdefault(row["namespace"].partition(":")[2], set()).add(row["code"])
    return {node: sorted(codes) for node, codes in sorted(found.items())}


def resolve(
    given: Sequence[str], lake: "ReadLake", lacking: Sequence[str], tables: Sequence[str]
) -> tuple[str, ...]:
    """Return the namespaces that `given` names: each text is a namespace, its id, or a prefix of only one.

    Reads: only rows with a matching namespace, and at most three names for each text.
    Raises: UsageError `NAMESPACE_UNKNOWN`, `NAMESPACE_AMBIGUOUS`.
    """
    found: list[str] = []
    for name in given:
        fits: list[str] = []
        for condition in (is_one_of(namespaces_named(name)), begins_with_one_of(namespace_prefixes(name))):
            if not fits:
                rows = lake.query(names_sql(lacking, condition, tables), tables)
                fits = [row["namespace"] for row in rows]
        one = only_one(name, fits)
        if one is None:
            raise unknown_namespace(name)
        found.append(one)
    return tuple(found)


def unreduced(lake: "ReadLake", record_tables: Mapping[str, str]) -> tuple[Unreduced, ...]:
    """Return the record tables with rows that `reduce` has not read, by dialect."""
    seen = {row["dialect"]: row["reduced_version"] for row in lake.query(REDUCED_SQL, ("namespace_state",))}
    found = []
    for dialect, table in sorted(record_tables.items()):
        newest = lake.newest_addition(table, seen.get(dialect, -1))
        if newest is not None:
            found.append(Unreduced(table, newest, seen.get(dialect)))
    return tuple(found)

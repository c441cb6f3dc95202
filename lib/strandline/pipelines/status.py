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
    as_json,
    begins_with_one_of,
    every_row,
    is_one_of,
    names_sql,
    of_local_nodes,
    rows_sql,
    stopped_writers,
)
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spooled import SpooledRows
from strandline.pipelines.unreduced import unreduced

if TYPE_CHECKING:
    from strandline.dialect_api.health import HealthSql
    from strandline.tables.read_lake import ReadLake, Row


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """The arguments of `status`: namespaces (none: all), all rows or the 50 worst, exit code 1 for a finding."""

    namespaces: tuple[str, ...] = ()
    all: bool = False
    check: bool = False


def run(
    lake: "ReadLake",
    record_tables: Mapping[str, str],
    request: StatusRequest,
    context: RunContext,
    healths: Sequence["HealthSql"] = (),
) -> Report:
    """Return the status of the lake from its tables, worst first.

    `record_tables` gives the table of accepted records of each dialect, `healths` what their namespaces lack.
    Raises: UsageError `NAMESPACE_UNKNOWN`, `NAMESPACE_AMBIGUOUS`; FaultError `TABLE_DAMAGED`.
    """
    lacking, tables = of_local_nodes(lake, healths)
    shown: list[Row] | SpooledRows
    if request.namespaces:
        wanted = resolve(request.namespaces, lake, lacking, tables)
        rows = lake.query(rows_sql(None, lacking, is_one_of(wanted), tables), tables)
        tally = Counter(row["health"] for row in rows)
        shown = rows if request.all else rows[:ROWS]
    else:
        tally, shown = every_row(lake, lacking, tables, is_all=request.all)
    not_read = unreduced(lake, record_tables)
    stopped = stopped_writers(lake, healths)
    found = request.check and (
        bool(not_read) or bool(stopped) or any(tally[name] for name in ("forked", "waiting", "behind"))
    )
    return context.report(
        lake.location.describe(),
        outcome="found" if found else "ok",
        counts={name: tally[name] for name in HEALTHS},
        namespaces=tally.total(),
        members={
            "rows": shown if isinstance(shown, SpooledRows) else [as_json(row) for row in shown],
            "unreduced": [asdict(each) for each in not_read],
            "stopped": stopped,
            **damaged_files(lake),
        },
    )


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

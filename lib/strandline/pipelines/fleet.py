"""`report`: the numbers of the page about a fleet, each from a query with a limit or over few groups."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from strandline.pipelines import fleet_sql as sql
from strandline.pipelines.damaged import damaged_files
from strandline.pipelines.health_rows import (
    HEALTHS,
    SUMS,
    as_json,
    every_row,
    is_one_of,
    of_local_nodes,
    stopped_writers,
    sums_sql,
)
from strandline.pipelines.report import Report, utc_text
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.unreduced import unreduced

if TYPE_CHECKING:
    from strandline.dialect_api.drawing import DrawingSql
    from strandline.dialect_api.health import HealthSql
    from strandline.tables.read_lake import ReadLake, Row

ROWS: Final = 500
"""Maximum number of namespaces on the page, the worst ones."""
DRAWN: Final = 4
"""Maximum number of namespaces of a dialect that are drawn."""
NODES: Final = 40
"""Maximum number of records of a drawing."""
_UNITS: Final = (("hour", timedelta(days=3)), ("day", timedelta(days=90)), ("week", timedelta.max))


@dataclass(frozen=True, slots=True)
class Before:
    """What an earlier report said: when it was made, and its namespaces by health."""

    made_at: datetime
    healths: Mapping[str, int]


def run(
    lake: "ReadLake",
    record_tables: Mapping[str, str],
    healths: Sequence["HealthSql"],
    drawings: Mapping[str, "DrawingSql"],
    before: Before | None,
    context: RunContext,
) -> Report:
    """Return the numbers of the lake as members of a report; with `before` also what is new since then.

    Nothing that the driver holds grows with the lake: counts by group, and the first rows of each list.
    Raises: FaultError `TABLE_DAMAGED`.
    """
    lacking, tables = of_local_nodes(lake, healths)
    tally, rows = every_row(lake, lacking, tables, is_all=False, most=ROWS)
    shown = [as_json(row) for row in rows]
    quarantine = reasons(lake)
    codes: Counter[str] = Counter()
    for each in quarantine:
        for code in each["codes"]:
            codes[code] += each["records"]
    return context.report(
        lake.location.describe(),
        counts={name: tally[name] for name in HEALTHS},
        reasons=dict(sorted(codes.items())),
        namespaces=tally.total(),
        members={
            "made_at": utc_text(context.started_at),
            "fleet": fleet(lake, lacking, tables),
            "rows": shown,
            "quarantined": quarantine,
            "waiting": _waiting(lake),
            "proven_forks": [dict(row) for row in lake.query(sql.FORKS, ("equivocation",))],
            "ingested": ingested(lake),
            "runs": _timed(lake.query(sql.RUNS, ("run",)), "started_at"),
            "drawings": drawn(lake, shown, drawings),
            "unreduced": [asdict(each) for each in unreduced(lake, record_tables)],
            "stopped": stopped_writers(lake, healths),
            **damaged_files(lake),
            **({} if before is None else {"since": since(lake, before, tally)}),
        },
    )


def fleet(lake: "ReadLake", lacking: Sequence[str], tables: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sums of namespaces by dialect and health, in slices as `every_row` asks for."""
    sums: dict[tuple[str, str], Counter[str]] = {}
    for condition in lake.slices(("quarantine", "namespace_state")):
        for row in lake.query(sums_sql(lacking, condition, tables), tables):
            part = sums.setdefault((row["dialect"], row["health"]), Counter())
            part.update({name: row[name] for name in ("namespaces", *SUMS)})
    return [
        {"dialect": dialect, "health": health, **{name: part[name] for name in ("namespaces", *SUMS)}}
        for (dialect, health), part in sorted(sums.items(), key=lambda each: (each[0][0], HEALTHS.index(each[0][1])))
    ]  # fmt: skip


def reasons(lake: "ReadLake") -> list[dict[str, Any]]:
    """Return the rows of quarantine by status and set of reasons, the most frequent first."""
    return [
        {**row, "codes": row["codes"].strip("[]").replace(" ", "").split(",")}
        for row in lake.query(sql.REASONS, ("quarantine",))
    ]  # fmt: skip


def _waiting(lake: "ReadLake") -> list[dict[str, Any]]:
    found = _timed(lake.query(sql.WAITING, ("quarantine",)), "oldest")
    for row in found:
        row["awaited"] = row["awaited"].strip("[]")
    return found


def ingested(lake: "ReadLake") -> dict[str, Any]:
    """Return the records of ingest and sync by hour, day or week, whichever fits the time that the runs cover."""
    [span] = lake.query(sql.SPAN, ("run",))
    if span["first_at"] is None:
        return {"unit": "day", "times": []}
    covered = span["last_at"] - span["first_at"]
    unit = next(name for name, most in _UNITS if covered <= most)
    rows = lake.query(sql.INGESTED.replace("{unit}", unit), ("run",))
    return {"unit": unit, "times": list(reversed(_timed(rows, "at")))}


def drawn(
    lake: "ReadLake", shown: Sequence[Mapping[str, Any]], drawings: Mapping[str, "DrawingSql"]
) -> list[dict[str, Any]]:
    """Return the records of the worst namespaces of each dialect that have some."""
    found = []
    for dialect, drawing in drawings.items():
        with_records = [row for row in shown if row["dialect"] == dialect and row["records"]]
        for row in with_records[:DRAWN]:
            select = drawing.nodes.replace("{condition}", is_one_of([row["namespace"]])).replace(
                "{most}", str(NODES)
            )
            nodes = [_node(each) for each in lake.query(select, drawing.tables)]
            found.append(
                {
                    "namespace": row["namespace"], "dialect": dialect, "health": row["health"],
                    "records": row["records"], "words": drawing.words, "nodes": nodes,
                }
            )  # fmt: skip
    return found


def _node(row: "Row") -> dict[str, Any]:
    parents = row["parents"]
    listed = [] if parents is None else parents if isinstance(parents, list) else [parents]
    return {
        "place": row["place"], "id": _text(row["id"]), "parents": [_text(each) for each in listed],
        "label": row["label"], "author": row["author"], "marks": (row["marks"] or "").split(),
    }  # fmt: skip


def since(lake: "ReadLake", before: Before, tally: Counter[str]) -> dict[str, Any]:
    """Return what runs did that ended after the earlier report began, and the namespaces by health then and now."""
    after = f"CAST('{before.made_at:%Y-%m-%d %H:%M:%S.%f}+00:00' AS TIMESTAMP)"
    [runs], [states], [held] = (
        lake.query(text.replace("{after}", after), tables)
        for text, tables in (
            (sql.RUNS_SINCE, ("run",)), (sql.STATES_SINCE, ("namespace_state",)),
            (sql.HELD_SINCE, ("quarantine", "run")),
        )
    )  # fmt: skip
    changed = lake.query(sql.CHANGED_SINCE.replace("{after}", after), ("namespace_state",))
    return {
        "made_at": utc_text(before.made_at),
        "healths": {name: [before.healths.get(name, 0), tally[name]] for name in HEALTHS},
        "runs": runs["runs"],
        "accepted": runs["accepted"] or 0,
        "changed_namespaces": states["namespaces"],
        "changed": _timed(changed, "reduced_at"),
        "quarantined": held["records"],
    }


def _timed(rows: "Sequence[Row]", name: str) -> list[dict[str, Any]]:
    """Return rows as JSON values: the time `name` as text, integers for counts without a value."""
    return [{**row, name: None if row[name] is None else utc_text(row[name])} for row in rows]


def _text(value: Any) -> str:
    return bytes(value).hex() if isinstance(value, bytes | bytearray) else str(value)

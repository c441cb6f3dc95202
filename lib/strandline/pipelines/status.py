"""How every namespace fares, worst first, and which record tables `reduce` has not caught up with."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from strandline.core.errors import UsageError
from strandline.core.ids import namespace_prefixes, namespaces_named, only_one
from strandline.pipelines.damaged import damaged_files
from strandline.pipelines.report import Report, utc_text
from strandline.pipelines.run_context import RunContext

if TYPE_CHECKING:
    from strandline.dialect_api.health import HealthSql, Part
    from strandline.tables.read_lake import ReadLake

ROWS = 50
HEALTHS = ("forked", "behind", "waiting", "rejected", "ok")
COLUMNS = (
    "namespace", "dialect", "health", "records", "waiting", "rejected", "forks", "behind",
    "state_hash", "reducer_version", "reduced_at",
)  # fmt: skip


TABLES = ("namespace_state", "quarantine", "equivocation")
REDUCED_SQL = "SELECT dialect, max(reduced_version) AS reduced_version FROM namespace_state GROUP BY dialect"
# The rows of the view `namespace_health`, in SQL that delta-rs reads too; a test compares the two.
_HEALTH_SQL = """
WITH lacking AS (
  SELECT namespace, CAST(sum(behind) AS BIGINT) AS behind FROM ({behind}) AS parts GROUP BY namespace
),
held AS (
  SELECT
    namespace,
    min(dialect) AS dialect,
    sum(CASE WHEN status = 'deferred' THEN 1 ELSE 0 END) AS waiting,
    sum(CASE WHEN status = 'rejected' THEN 1 ELSE 0 END) AS rejected
  FROM quarantine
  WHERE namespace IS NOT NULL AND scope = 'record'
  GROUP BY namespace
),
forked AS (
  SELECT namespace, count(*) AS forks FROM equivocation GROUP BY namespace
),
counted AS (
  SELECT
    coalesce(s.namespace, h.namespace) AS namespace,
    coalesce(s.dialect, h.dialect) AS dialect,
    coalesce(s.record_count, CAST(0 AS BIGINT)) AS records,
    coalesce(h.waiting, CAST(0 AS BIGINT)) AS waiting,
    coalesce(h.rejected, CAST(0 AS BIGINT)) AS rejected,
    s.state_hash,
    s.reducer_version,
    s.reduced_at
  FROM namespace_state AS s
  FULL OUTER JOIN held AS h ON s.namespace = h.namespace
),
joined AS (
  SELECT
    c.*,
    coalesce(f.forks, CAST(0 AS BIGINT)) AS forks,
    coalesce(b.behind, CAST(0 AS BIGINT)) AS behind
  FROM counted AS c
  LEFT JOIN forked AS f ON c.namespace = f.namespace
  LEFT JOIN lacking AS b ON c.namespace = b.namespace
),
rated AS (
  SELECT
    *,
    CASE
      WHEN forks > 0 THEN 0 WHEN behind > 0 THEN 1 WHEN waiting > 0 THEN 2 WHEN rejected > 0 THEN 3 ELSE 4
    END AS place
  FROM joined
),
health AS (
  SELECT
    *,
    CASE place
      WHEN 0 THEN 'forked' WHEN 1 THEN 'behind' WHEN 2 THEN 'waiting' WHEN 3 THEN 'rejected' ELSE 'ok'
    END AS health
  FROM rated
)
"""
NOTHING_BEHIND = "SELECT namespace, CAST(0 AS BIGINT) AS behind FROM namespace_state WHERE false"


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """Which namespaces (none: all), whether all rows rather than the 50 worst, whether a finding is exit 1."""

    namespaces: tuple[str, ...] = ()
    all: bool = False
    check: bool = False


@dataclass(frozen=True, slots=True)
class Unreduced:
    """A record table with rows that `reduce` has not seen: its version, and the last one that was seen."""

    table: str
    version: int
    reduced_version: int | None


def run(
    lake: "ReadLake",
    record_tables: Mapping[str, str],
    request: StatusRequest,
    context: RunContext,
    health: Sequence["HealthSql"] = (),
) -> Report:
    """Return the status of the lake from its tables alone, worst first.

    `record_tables` gives the table of accepted records of each dialect, `health` how own nodes stand.
    Raises: UsageError `NAMESPACE_UNKNOWN`, `NAMESPACE_AMBIGUOUS`; FaultError `TABLE_DAMAGED`.
    """
    tables = tuple(dict.fromkeys((*TABLES, *(table for each in health for table in each.tables))))
    parts = [part for each in health for part in _asked(lake, each.behind, each.tables)]
    behind_sql = "\nUNION ALL\n".join(parts) or NOTHING_BEHIND
    if request.namespaces:
        every = lake.query(rows_sql(None, behind_sql), tables)
        wanted = set(resolve(request.namespaces, [row["namespace"] for row in every]))
        rows = [row for row in every if row["namespace"] in wanted]
        tally = Counter(row["health"] for row in rows)
        shown = rows if request.all else rows[:ROWS]
    else:
        told = lake.query(tally_sql(behind_sql), tables)
        tally = Counter({row["health"]: row["namespaces"] for row in told})
        shown = lake.query(rows_sql(None if request.all else ROWS, behind_sql), tables)
    behind = unreduced(lake, record_tables)
    stopped = stopped_writers(lake, health)
    found = request.check and (
        bool(behind) or bool(stopped) or any(tally[name] for name in ("forked", "waiting", "behind"))
    )
    return context.report(
        lake.location.describe(),
        outcome="found" if found else "ok",
        counts={name: tally[name] for name in HEALTHS},
        namespaces=tally.total(),
        members={
            "rows": [_as_json(row) for row in shown],
            "unreduced": [asdict(one) for one in behind],
            "stopped": stopped,
            **damaged_files(lake),
        },
    )


def _asked(lake: "ReadLake", parts: Sequence["Part"], tables: Sequence[str]) -> list[str]:
    """Return the SELECTs whose gate counts something, or that have none."""
    return [
        select
        for gate, select in parts
        if gate is None or any(row["found"] for row in lake.query(gate, tables))
    ]


def stopped_writers(lake: "ReadLake", health: Sequence["HealthSql"]) -> dict[str, list[str]]:
    """Return the codes of the own nodes on whose journals nothing is written, by node, ascending."""
    found: dict[str, set[str]] = {}
    for each in health:
        for select in _asked(lake, each.stopped, each.tables):
            for row in lake.query(select, each.tables):
                found.setdefault(row["namespace"].partition(":")[2], set()).add(row["code"])
    return {node: sorted(codes) for node, codes in sorted(found.items())}


def tally_sql(behind: str = NOTHING_BEHIND) -> str:
    """Return the query of the number of namespaces by health; `behind` selects what own nodes lack."""
    return _health(behind) + "SELECT health, count(*) AS namespaces FROM health GROUP BY health"


def _health(behind: str) -> str:
    return _HEALTH_SQL.replace("{behind}", behind)


def rows_sql(limit: int | None, behind: str = NOTHING_BEHIND) -> str:
    """Return the query of the rows, by health, then by forks, missing, waiting and rejected records, then by name."""
    worst_first = "ORDER BY place, forks DESC, behind DESC, waiting DESC, rejected DESC, namespace"
    cut = "" if limit is None else f" LIMIT {int(limit)}"
    return f"{_health(behind)}SELECT {', '.join(COLUMNS)} FROM health {worst_first}{cut}"


def resolve(given: Sequence[str], namespaces: Sequence[str]) -> tuple[str, ...]:
    """Return the namespaces that `given` names: each is a namespace or its id, as it is or encoded, or begins just one.

    Raises: UsageError `NAMESPACE_UNKNOWN`, `NAMESPACE_AMBIGUOUS`.
    """
    found: list[str] = []
    known = set(namespaces)
    for name in given:
        fits = sorted(known.intersection(namespaces_named(name)))
        begun = namespace_prefixes(name)
        one = only_one(name, fits or sorted(each for each in known if each.startswith(begun)))
        if one is None:
            raise UsageError(
                "NAMESPACE_UNKNOWN",
                f"no namespace of this lake is called {name}",
                "`strandline status --all` lists them; the first part of a name will do",
            )
        found.append(one)
    return tuple(found)


def unreduced(lake: "ReadLake", record_tables: Mapping[str, str]) -> tuple[Unreduced, ...]:
    """Return the record tables with rows newer than what `reduce` has seen, by dialect."""
    seen = {row["dialect"]: row["reduced_version"] for row in lake.query(REDUCED_SQL, ("namespace_state",))}
    found = []
    for dialect, table in sorted(record_tables.items()):
        newest = lake.newest_addition(table, seen.get(dialect, -1))
        if newest is not None:
            found.append(Unreduced(table, newest, seen.get(dialect)))
    return tuple(found)


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: row[name] for name in COLUMNS}
    if isinstance(row["reduced_at"], datetime):
        values["reduced_at"] = utc_text(row["reduced_at"])
    if row["state_hash"] is not None:
        values["state_hash"] = bytes(row["state_hash"]).hex()
    return values

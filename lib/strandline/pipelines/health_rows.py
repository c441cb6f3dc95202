"""The health of every namespace, worst first: SQL and rows; of a large lake in parts that fit into memory."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from strandline.contracts.views import views
from strandline.core.ids import ENOUGH_NAMESPACES
from strandline.pipelines.report import utc_text
from strandline.pipelines.spooled import SpooledRows
from strandline.tables.slices import ROWS_OF_A_SLICE

if TYPE_CHECKING:
    from strandline.dialect_api.health import HealthPart, HealthSql
    from strandline.tables.read_lake import ReadLake, Row

ROWS = 50
MOST = 10**18
"""Greater than any count of records."""
HEALTHS = ("forked", "behind", "waiting", "rejected", "ok")
_RANK = {name: at for at, name in enumerate(HEALTHS)}
COLUMNS = (
    "namespace", "dialect", "health", "records", "waiting", "rejected", "forks", "behind",
    "state_hash", "reducer_version", "reduced_at",
)  # fmt: skip


SUMS = ("records", "waiting", "rejected", "forks", "behind")
TABLES = ("namespace_state", "quarantine", "equivocation")
_WORST_FIRST = "ORDER BY place, forks DESC, behind DESC, waiting DESC, rejected DESC, namespace"
_SPARKS_HEX = "lower(hex(s.state_hash))"
"""The only expression of the view `namespace_health` that delta-rs does not support: here the hash stays binary."""


def every_row(
    lake: "ReadLake", behind: Sequence[str], tables: Sequence[str], *, is_all: bool, most: int = ROWS
) -> tuple[Counter[str], "list[Row] | SpooledRows"]:
    """Return the number of all namespaces by health, and rows: all with `is_all`, else the `most` worst.

    `behind` are SELECTs of what local nodes lack. A large lake is queried in slices of its namespaces, and all rows go
    through files, so memory does not grow with the lake. A small lake takes one query.
    """
    slices = lake.slices(("quarantine", "namespace_state"))
    tally: Counter[str] = Counter()
    if slices == [None]:
        tally.update(_tally(lake, behind, None, tables))
        # Spark reads a lake of any size at once: the rows of few namespaces are held.
        if not is_all or tally.total() <= ROWS_OF_A_SLICE:
            return tally, lake.query(rows_sql(None if is_all else most, behind, None, tables), tables)
    if is_all:
        tally.clear()
        spooled = SpooledRows()
        for condition in slices:
            found = lake.batches(rows_sql(None, behind, condition, tables), tables)
            spooled.add_part(_counted(found, tally))
        return tally, spooled
    shown: list[Row] = []
    for condition in slices:
        tally.update(_tally(lake, behind, condition, tables))
        worst = lake.query(rows_sql(most, behind, condition, tables), tables)
        shown = heapq.nsmallest(most, [*shown, *worst], key=_place)
    return tally, shown


def _tally(
    lake: "ReadLake", behind: Sequence[str], condition: str | None, tables: Sequence[str]
) -> dict[str, int]:
    counted = lake.query(tally_sql(behind, condition, tables), tables)
    return {row["health"]: row["namespaces"] for row in counted}


def open_selects(lake: "ReadLake", parts: Sequence["HealthPart"], tables: Sequence[str]) -> list[str]:
    """Return the SELECTs without a gate, or with a gate that finds rows."""
    return [
        part.select
        for part in parts
        if part.gate is None or any(row["found"] for row in lake.query(part.gate, tables))
    ]


def of_local_nodes(lake: "ReadLake", healths: Sequence["HealthSql"]) -> tuple[list[str], tuple[str, ...]]:
    """Return the SELECTs of what local nodes lack, and all tables of the health of namespaces."""
    lacking = [select for each in healths for select in open_selects(lake, each.behind, each.tables)]
    return lacking, tuple(dict.fromkeys((*TABLES, *(table for each in healths for table in each.tables))))


def stopped_writers(lake: "ReadLake", healths: Sequence["HealthSql"]) -> dict[str, list[str]]:
    """Return the local nodes whose writers stopped, ascending, with their reason codes."""
    found: dict[str, set[str]] = {}
    for health in healths:
        for select in open_selects(lake, health.stopped, health.tables):
            for row in lake.query(select, health.tables):
                found.setdefault(row["namespace"].partition(":")[2], set()).add(row["code"])
    return {node: sorted(codes) for node, codes in sorted(found.items())}


def _counted(batches: "Iterator[list[Row]]", tally: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for rows in batches:
        for row in rows:
            tally[row["health"]] += 1
            yield _place(row), as_json(row)


def _place(row: "Row") -> str:
    """Return a sort key that gives the order of `rows_sql`: numbers descending, names ascending."""
    return (
        f"{_RANK[row['health']]}{MOST - row['forks']:019d}{MOST - row['behind']:019d}{MOST - row['waiting']:019d}"
        f"{MOST - row['rejected']:019d}{row['namespace'].encode().hex()}"
    )


def tally_sql(behind: Iterable[str] = (), condition: str | None = None, tables: Sequence[str] = ()) -> str:
    """Return the query of the number of namespaces by health; `behind` are SELECTs of what local nodes lack.

    A `condition` on bucket and namespace restricts the query to such rows of `tables`.
    """
    return (
        f"{_part(condition, tables)}SELECT health, count(*) AS namespaces FROM (\n{_health(behind)}\n) AS fleet"
        f" GROUP BY health"
    )


def sums_sql(behind: Iterable[str], condition: str | None, tables: Sequence[str]) -> str:
    """Return the query of namespaces, records and rows of quarantine by dialect and health; see `tally_sql`."""
    sums = ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in SUMS)
    return (
        f"{_part(condition, tables)}SELECT dialect, health, count(*) AS namespaces, {sums} FROM (\n{_health(behind)}\n)"
        f" AS fleet GROUP BY dialect, health"
    )


def rows_sql(
    limit: int | None, behind: Iterable[str] = (), condition: str | None = None, tables: Sequence[str] = ()
) -> str:
    """Return the query of the rows, ordered by health, forks, missing, waiting and rejected records, then name.

    `behind`, `condition` and `tables` as in `tally_sql`.
    """
    places = " ".join(f"WHEN '{health}' THEN {place}" for place, health in enumerate(HEALTHS))
    cut = "" if limit is None else f" LIMIT {int(limit)}"
    return (
        f"{_part(condition, tables)}SELECT {', '.join(COLUMNS)} FROM (\n"
        f"SELECT *, CASE health {places} END AS place FROM (\n{_health(behind)}\n) AS fleet\n) AS placed"
        f" {_WORST_FIRST}{cut}"
    )


def names_sql(behind: Iterable[str], condition: str, tables: Sequence[str]) -> str:
    """Return the query of the first namespaces, at most ENOUGH_NAMESPACES, that meet the condition; see `rows_sql`."""
    return (
        f"{_part(condition, tables)}SELECT DISTINCT namespace FROM (\n{_health(behind)}\n) AS fleet"
        f" ORDER BY namespace LIMIT {ENOUGH_NAMESPACES}"
    )


def is_one_of(namespaces: Iterable[str]) -> str:
    """Return the condition that the namespace is one of these; the SQL has digests, not the texts."""
    return _is_one_of("namespace", namespaces)


def begins_with_one_of(prefixes: Iterable[str]) -> str:
    """Return the condition that the namespace starts with one of these; the SQL has digests, not the texts."""
    tests = [_is_one_of(f"left(namespace, {len(each)})", [each]) for each in prefixes]
    return " OR ".join(tests) or "false"


def _is_one_of(value: str, texts: Iterable[str]) -> str:
    digests = [f"'{hashlib.md5(each.encode(), usedforsecurity=False).hexdigest()}'" for each in texts]
    return f"md5({value}) IN ({', '.join(digests)})" if digests else "false"


def _part(condition: str | None, tables: Sequence[str]) -> str:
    """Return the WITH clause that restricts the tables to the condition, or an empty text."""
    if condition is None or not tables:
        return ""
    parts = ",\n".join(f"{table} AS (SELECT * FROM {table} WHERE {condition})" for table in tables)
    return f"WITH {parts}\n"


def _health(behind: Iterable[str]) -> str:
    """Return the SELECT of the view `namespace_health`, in SQL that delta-rs also reads."""
    return views(behind=behind)["namespace_health"].select.replace(_SPARKS_HEX, "s.state_hash")


def as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as JSON values."""
    values = {name: row[name] for name in COLUMNS}
    if isinstance(row["reduced_at"], datetime):
        values["reduced_at"] = utc_text(row["reduced_at"])
    if row["state_hash"] is not None:
        values["state_hash"] = bytes(row["state_hash"]).hex()
    return values

"""The health of every namespace, worst first: its SQL, and its rows, of a large lake in parts that fit into memory."""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from strandline.pipelines.report import utc_text
from strandline.pipelines.spooled import SpooledRows

if TYPE_CHECKING:
    from strandline.tables.read_lake import ReadLake, Row

ROWS = 50
MOST = 10**18
"""More than any count of records."""
HEALTHS = ("forked", "behind", "waiting", "rejected", "ok")
_RANK = {name: at for at, name in enumerate(HEALTHS)}
COLUMNS = (
    "namespace", "dialect", "health", "records", "waiting", "rejected", "forks", "behind",
    "state_hash", "reducer_version", "reduced_at",
)  # fmt: skip


TABLES = ("namespace_state", "quarantine", "equivocation")
# The rows of the view `namespace_health`, in SQL that delta-rs reads too; a test compares the two.
_HEALTH_SQL = """
WITH {parts}lacking AS (
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


def every_row(
    lake: "ReadLake", behind: str, tables: Sequence[str], *, is_all: bool
) -> tuple[Counter[str], "list[Row] | SpooledRows"]:
    """Return the number of all namespaces by health, and the rows wanted: all, or the worst.

    Of a large lake a part of the namespaces is looked at at a time, and all rows go through files: memory does not grow
    with the lake. A small one is answered by one query.
    """
    slices = lake.slices(("quarantine", "namespace_state"))
    tally: Counter[str] = Counter()
    if is_all and slices != [None]:
        spooled = SpooledRows()
        for condition in slices:
            found = lake.batches(rows_sql(None, behind, condition, tables), tables)
            spooled.add_part(_counted(found, tally))
        return tally, spooled
    shown: list[Row] = []
    for condition in slices:
        counted = lake.query(tally_sql(behind, condition, tables), tables)
        tally.update({row["health"]: row["namespaces"] for row in counted})
        found_rows = lake.query(rows_sql(None if is_all else ROWS, behind, condition, tables), tables)
        shown = heapq.nsmallest(ROWS, [*shown, *found_rows], key=_place) if len(slices) > 1 else found_rows
    return tally, shown


def _counted(batches: "Iterator[list[Row]]", tally: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for rows in batches:
        for row in rows:
            tally[row["health"]] += 1
            yield _place(row), as_json(row)


def _place(row: "Row") -> str:
    """Return a text by which rows sort as `rows_sql` sorts them; what is greater comes first, but names."""
    return (
        f"{_RANK[row['health']]}{MOST - row['forks']:019d}{MOST - row['behind']:019d}{MOST - row['waiting']:019d}"
        f"{MOST - row['rejected']:019d}{row['namespace'].encode().hex()}"
    )


def tally_sql(behind: str = NOTHING_BEHIND, condition: str | None = None, tables: Sequence[str] = ()) -> str:
    """Return the query of the number of namespaces by health; `behind` selects what own nodes lack.

    With a `condition` on bucket and namespace the query is about these rows of the `tables` alone.
    """
    return (
        _health(behind, condition, tables)
        + "SELECT health, count(*) AS namespaces FROM health GROUP BY health"
    )


def _health(behind: str, condition: str | None, tables: Sequence[str]) -> str:
    parts = [f"{table} AS (SELECT * FROM {table} WHERE {condition}),\n" for table in tables if condition]
    return _HEALTH_SQL.replace("{parts}", "".join(parts)).replace("{behind}", behind)


def rows_sql(
    limit: int | None, behind: str = NOTHING_BEHIND, condition: str | None = None, tables: Sequence[str] = ()
) -> str:
    """Return the query of the rows, by health, then by forks, missing, waiting and rejected records, then by name.

    `behind`, `condition` and `tables` as in `tally_sql`.
    """
    worst_first = "ORDER BY place, forks DESC, behind DESC, waiting DESC, rejected DESC, namespace"
    cut = "" if limit is None else f" LIMIT {int(limit)}"
    return f"{_health(behind, condition, tables)}SELECT {', '.join(COLUMNS)} FROM health {worst_first}{cut}"


def as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as JSON values."""
    values = {name: row[name] for name in COLUMNS}
    if isinstance(row["reduced_at"], datetime):
        values["reduced_at"] = utc_text(row["reduced_at"])
    if row["state_hash"] is not None:
        values["state_hash"] = bytes(row["state_hash"]).hex()
    return values

"""The sources with rejected records, also those without a namespace, and the first break of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from strandline.pipelines.report import utc_text

if TYPE_CHECKING:
    from strandline.tables.read_lake import ReadLake

SHOWN: Final = 20
"""Maximum number of sources with rejected records in a report, which also gives their total."""
TABLES: Final = ("quarantine",)
# Rows of the view `damaged_source`, in SQL that delta-rs also reads; a test compares the two.
# A join finds the first break by place and id. A window would sort all rows of a source, possibly a million.
_SQL: Final = """
WITH stored AS (
  SELECT source, dialect, coalesce(source_offset, 0) AS place, quarantine_id, last_seen
  FROM quarantine
  WHERE status = 'rejected' AND scope = 'record' AND source IS NOT NULL
),
shown AS (
  SELECT source, dialect, count(*) AS rejected, min(place) AS place, max(last_seen) AS seen_last
  FROM stored
  GROUP BY source, dialect
  ORDER BY seen_last DESC, source, dialect
  LIMIT {shown}
),
first AS (
  SELECT s.source, s.dialect, s.rejected, s.seen_last, min(h.quarantine_id) AS quarantine_id
  FROM shown AS s
  JOIN stored AS h ON h.source = s.source AND h.dialect = s.dialect AND h.place = s.place
  GROUP BY s.source, s.dialect, s.rejected, s.seen_last
)
SELECT
  f.source,
  f.dialect,
  f.rejected,
  q.source_offset,
  CAST(q.reasons AS STRING) AS codes,
  f.quarantine_id,
  f.seen_last
FROM first AS f
JOIN quarantine AS q ON q.quarantine_id = f.quarantine_id
ORDER BY seen_last DESC, source, dialect
"""
_TOTAL_SQL: Final = """
SELECT count(*) AS sources
FROM (
  SELECT DISTINCT dialect, source
  FROM quarantine
  WHERE status = 'rejected' AND scope = 'record' AND source IS NOT NULL
) AS damaged
"""


def members(rows: list[dict[str, Any]], total: int) -> dict[str, Any]:
    """Return the members of a report about sources with rejected records: the first ones and the total."""
    return {"damaged_files": rows, "damaged_files_total": total}


def damaged_files(lake: ReadLake) -> dict[str, Any]:
    """Return `members` of all sources with rejected records in the quarantine, newest first."""
    rows = [_row(each) for each in lake.query(_SQL.replace("{shown}", str(SHOWN)), TABLES)]
    total = len(rows) if len(rows) < SHOWN else lake.query(_TOTAL_SQL, TABLES)[0]["sources"]
    return members(rows, total)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "source": row["source"],
        "dialect": row["dialect"],
        "rejected": row["rejected"],
        "source_offset": row["source_offset"],
        "reasons": row["codes"].strip("[]").replace(" ", ""),
        "first_rejected": bytes(row["quarantine_id"]).hex(),
        "last_seen": utc_text(row["seen_last"]),
    }

"""The queries of `report`, in SQL that Spark and delta-rs both support; each gives few rows."""

from typing import Final

REASONS: Final = """
SELECT status, CAST(reasons AS STRING) AS codes, count(*) AS records
FROM quarantine
WHERE scope = 'record'
GROUP BY status, CAST(reasons AS STRING)
ORDER BY records DESC, status, codes
LIMIT 500
"""
# Of each namespace what its first waiting record waits for: in a chain, the others wait for that one.
WAITING: Final = """
WITH held AS (
  SELECT namespace, coalesce(source_offset, 0) AS place, waits_for, first_seen
  FROM quarantine
  WHERE status = 'deferred' AND scope = 'record' AND namespace IS NOT NULL
),
most AS (
  SELECT namespace, count(*) AS records, min(place) AS place, min(first_seen) AS oldest
  FROM held
  GROUP BY namespace
  ORDER BY records DESC, namespace
  LIMIT 50
)
SELECT m.namespace, m.records, m.oldest, min(left(CAST(h.waits_for AS STRING), 200)) AS awaited
FROM most AS m
JOIN held AS h ON h.namespace = m.namespace AND h.place = m.place
GROUP BY m.namespace, m.records, m.oldest
ORDER BY records DESC, namespace
"""
FORKS: Final = """
SELECT namespace, dialect, kind, left(key, 200) AS author, left(position, 200) AS place, member_count, attributable
FROM equivocation
ORDER BY namespace, kind, author, place
LIMIT 50
"""
_READING: Final = "command IN ('ingest', 'sync')"
# `new` has no records that an earlier run read and that waited until this one.
_ACCEPTED: Final = "coalesce(counts['new'], 0) + coalesce(counts['readmitted'], 0)"
SPAN: Final = f"SELECT min(started_at) AS first_at, max(started_at) AS last_at FROM run WHERE {_READING}"
# The runs of a stream are those of its batches, each an ingest.
INGESTED: Final = f"""
SELECT
  date_trunc('{{unit}}', started_at) AS at,
  count(*) AS runs,
  CAST(sum({_ACCEPTED}) AS BIGINT) AS accepted,
  CAST(sum(coalesce(counts['rejected'], 0)) AS BIGINT) AS rejected,
  CAST(sum(coalesce(counts['deferred'], 0)) AS BIGINT) AS waiting
FROM run
WHERE {_READING}
GROUP BY date_trunc('{{unit}}', started_at)
ORDER BY at DESC
LIMIT 90
"""
RUNS: Final = """
SELECT started_at, command, dialect, outcome, seconds, namespaces, counts['read'] AS records
FROM run
ORDER BY started_at DESC, run_id
LIMIT 10
"""
# As a decimal: an interval cannot be read from a number with an exponent.
_SECONDS: Final = "CAST(CAST(seconds AS DECIMAL(18, 3)) AS STRING)"
# A run writes its row when it ends, so one that was under way during the earlier report is new.
_ENDED_SINCE: Final = f"started_at + CAST(concat({_SECONDS}, ' seconds') AS INTERVAL) >= {{after}}"
RUNS_SINCE: Final = f"""
SELECT
  count(*) AS runs,
  CAST(sum(CASE WHEN {_READING} THEN {_ACCEPTED} ELSE 0 END) AS BIGINT) AS accepted
FROM run
WHERE {_ENDED_SINCE}
"""
STATES_SINCE: Final = "SELECT count(*) AS namespaces FROM namespace_state WHERE reduced_at >= {after}"
# A run that was killed has no row: its records count by their own time. Nor has a run between its last two commits, to
# `quarantine` and to `run`: this report counts its records, and the next one does once more.
HELD_SINCE: Final = f"""
WITH ended AS (
  SELECT run_id, max(CASE WHEN {_ENDED_SINCE} THEN 1 ELSE 0 END) AS is_new
  FROM run
  GROUP BY run_id
)
SELECT count(*) AS records
FROM quarantine AS q
LEFT JOIN ended AS e ON e.run_id = q.first_run
WHERE q.scope = 'record' AND (e.is_new = 1 OR (e.run_id IS NULL AND q.first_seen >= {{after}}))
"""
CHANGED_SINCE: Final = """
SELECT namespace, record_count, reduced_at
FROM namespace_state
WHERE reduced_at >= {after}
ORDER BY reduced_at DESC, namespace
LIMIT 20
"""

-- How long records have been in quarantine: rows, distinct awaited things and the oldest row, by dialect, reason, status
-- and age. A row counts for each of its reasons, and its age is the time since it was first seen. Rows do not expire.
-- Example: SELECT reason, age, row_count, oldest FROM quarantine_age WHERE status = 'deferred' ORDER BY oldest
WITH aged AS (
  SELECT
    quarantine_id,
    dialect,
    status,
    reasons,
    waits_for,
    first_seen,
    CASE
      WHEN first_seen > current_timestamp() - INTERVAL '1' HOUR THEN 'up to 1 h'
      WHEN first_seen > current_timestamp() - INTERVAL '1' DAY THEN 'up to 1 d'
      WHEN first_seen > current_timestamp() - INTERVAL '7' DAY THEN 'up to 7 d'
      WHEN first_seen > current_timestamp() - INTERVAL '30' DAY THEN 'up to 30 d'
      ELSE 'more than 30 d'
    END AS age
  FROM quarantine
)
SELECT
  a.dialect,
  r.reason,
  a.status,
  a.age,
  count(DISTINCT a.quarantine_id) AS row_count,
  count(DISTINCT w.awaited) AS awaited_count,
  min(a.first_seen) AS oldest
FROM aged AS a
LATERAL VIEW explode(a.reasons) r AS reason
LATERAL VIEW OUTER explode(a.waits_for) w AS awaited
GROUP BY a.dialect, r.reason, a.status, a.age

-- Growth: accepted records by day and dialect, and the sum up to that day.
WITH by_day AS (
  SELECT CAST(started_at AS DATE) AS day, dialect, sum(new + coalesce(readmitted, 0)) AS records
  FROM run_history
  WHERE dialect IS NOT NULL AND new IS NOT NULL
  GROUP BY CAST(started_at AS DATE), dialect
)
SELECT day, dialect, records, sum(records) OVER (PARTITION BY dialect ORDER BY day) AS total
FROM by_day
ORDER BY day, dialect

-- Growth: accepted records by day and dialect, and the sum up to that day. A run of sync --from copies several dialects.
WITH by_day AS (
  SELECT CAST(started_at AS DATE) AS day, coalesce(dialect, 'several') AS dialect, sum(new + coalesce(readmitted, 0)) AS records
  FROM run_history
  WHERE new IS NOT NULL AND command <> 'stream'
  GROUP BY CAST(started_at AS DATE), coalesce(dialect, 'several')
)
SELECT day, dialect, records, sum(records) OVER (PARTITION BY dialect ORDER BY day) AS total
FROM by_day
ORDER BY day, dialect

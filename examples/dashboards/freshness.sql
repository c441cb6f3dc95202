-- Freshness: when each dialect was last ingested, how long ago that is, and how much arrived since yesterday.
SELECT
  dialect,
  max(started_at) AS last_run,
  round((unix_timestamp(current_timestamp()) - unix_timestamp(max(started_at))) / 3600, 1) AS hours_ago,
  sum(IF(started_at > current_timestamp() - INTERVAL '1' DAY, read, 0)) AS read_since_yesterday
FROM run_history
WHERE dialect IS NOT NULL AND read IS NOT NULL AND command <> 'stream' AND outcome IN ('ok', 'found')
GROUP BY dialect
ORDER BY hours_ago DESC, dialect

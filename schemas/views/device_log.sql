-- The messages of each group in the order that all devices agree on, with author, time and text (null if it is not UTF-8 or
-- was erased). Rows that are final stay where they are while no log that is waited for forks.
-- Example: SELECT position, label, sent_at, text, final FROM device_log ORDER BY namespace, position
WITH device AS (
  SELECT namespace, log, min(label) AS label
  FROM device_log_tip
  GROUP BY namespace, log
)
SELECT
  v.namespace,
  v.position,
  v.final,
  d.label,
  timestamp_millis(v.utc) AS sent_at,
  try_validate_utf8(CAST(e.body AS STRING)) AS text,
  v.lamport,
  lower(hex(v.log)) AS log,
  v.seq,
  lower(hex(v.record_id)) AS record_id
FROM device_log_view AS v
JOIN namespace_state AS s ON s.namespace = v.namespace
JOIN device_log_entry AS e ON e.bucket = v.bucket AND e.namespace = v.namespace AND e.record_id = v.record_id
LEFT JOIN device AS d ON d.namespace = v.namespace AND d.log = v.log
WHERE v.position IS NOT NULL

-- The values of every log in their order, oldest first, as in the property values of the JavaScript library; the newest n
-- are those with the greatest positions.
-- Example: SELECT position, writer, payload_json FROM ipfs_log_values WHERE log_id = 'chat' ORDER BY position DESC LIMIT 10
SELECT
  v.namespace,
  e.log_id,
  v.position,
  e.cid,
  e.writer,
  v.clock_time,
  e.payload_json
FROM ipfs_log_view AS v
JOIN namespace_state AS s ON s.namespace = v.namespace
JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id

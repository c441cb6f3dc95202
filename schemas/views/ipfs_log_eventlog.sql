-- The events of every log with the store eventlog, in their order: all values, with any operation.
-- Example: SELECT position, writer, value_json FROM ipfs_log_eventlog WHERE log_id = 'events' ORDER BY position
SELECT
  v.namespace,
  e.log_id,
  v.position,
  e.cid,
  e.writer,
  v.clock_time,
  e.value_json,
  e.payload_json
FROM ipfs_log_view AS v
JOIN namespace_state AS s ON s.namespace = v.namespace AND get_json_object(s.configuration, '$.store') = 'eventlog'
JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id

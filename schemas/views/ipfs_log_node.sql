-- Every entry of every log with its position, its payload, its parents and its provenance (source, run, write time): the
-- complete log for analysis. Entries of writers who may not write are in ipfs_log_denied, pruned entries only in
-- ipfs_log_dag.
-- Example: SELECT log_id, writer, count(*) AS entries, max(clock_time) AS newest FROM ipfs_log_node GROUP BY log_id, writer ORDER BY entries DESC
SELECT
  v.namespace,
  e.log_id,
  v.position,
  lower(hex(v.record_id)) AS record_id,
  e.cid,
  e.variant,
  e.writer,
  e.key,
  v.clock_time,
  v.clock_id,
  v.mode,
  v.tied,
  v.clock_ok,
  transform(e.next, digest -> lower(hex(digest))) AS next,
  e.payload_json,
  e.value_json,
  e.flags,
  e.source,
  e.run_id,
  e.landed_at
FROM ipfs_log_view AS v
JOIN namespace_state AS s ON s.namespace = v.namespace
JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id

-- The graph of every log and nothing else: each entry with its address, form, clock and position, and the digests of the
-- entries that it follows, held or not.
-- Example: SELECT cid, position, size(next) AS parents FROM ipfs_log_dag WHERE size(next) > 1 ORDER BY position
SELECT
  v.namespace,
  lower(hex(v.record_id)) AS record_id,
  e.cid,
  e.variant,
  v.clock_time,
  v.clock_id,
  v.position,
  transform(e.next, digest -> lower(hex(digest))) AS next
FROM ipfs_log_view AS v
JOIN namespace_state AS s ON s.namespace = v.namespace
JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id

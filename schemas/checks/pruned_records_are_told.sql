-- Pruned records whose snapshot is missing, and pruned entries of logs without a skeleton, or without their position in
-- the order of a reduced log.
SELECT p.namespace, lower(hex(p.record_id)) AS record_id
FROM pruned_record AS p
LEFT JOIN snapshot AS s ON s.namespace = p.namespace AND s.snapshot_id = p.snapshot_id
LEFT JOIN namespace_state AS n ON n.namespace = p.namespace AND n.dialect = 'ipfslog'
LEFT JOIN ipfs_log_view AS v ON v.namespace = p.namespace AND v.record_id = p.record_id
WHERE s.snapshot_id IS NULL
  OR (startswith(p.namespace, 'log:') AND p.form = 'remove' AND p.skeleton IS NULL)
  OR (n.namespace IS NOT NULL AND v.record_id IS NULL)

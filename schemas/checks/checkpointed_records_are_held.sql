-- Leaves of checkpoints whose record is neither in its table nor in pruned_record: it was removed after it had been stated.
WITH held AS (
  SELECT namespace, record_id FROM node_journal_line
  UNION ALL
  SELECT namespace, record_id FROM ipfs_log_entry
  UNION ALL
  SELECT namespace, record_id FROM aura_fact
  UNION ALL
  SELECT namespace, record_id FROM device_log_entry
  UNION ALL
  SELECT namespace, record_id FROM pruned_record
)
SELECT l.namespace, l.position, lower(hex(l.record_id)) AS record_id
FROM checkpoint_leaf AS l
JOIN checkpoint AS c ON c.namespace = l.namespace AND c.attempt = l.attempt
LEFT ANTI JOIN held AS h ON h.namespace = l.namespace AND h.record_id = l.record_id
WHERE c.dialect IN ('aura', 'devicelog', 'ipfslog', 'sdmp')

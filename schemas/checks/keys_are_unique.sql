-- Keys that a table holds more than once. A union merge adds a key at most once, whoever writes at the same time.
SELECT 'node_journal_line' AS table_name, concat_ws(' ', namespace, lower(hex(record_id))) AS row_key, count(*) AS row_count
FROM node_journal_line
GROUP BY namespace, record_id
HAVING count(*) > 1
UNION ALL
SELECT 'ipfs_log_entry', concat_ws(' ', namespace, lower(hex(record_id))), count(*)
FROM ipfs_log_entry
GROUP BY namespace, record_id
HAVING count(*) > 1
UNION ALL
SELECT 'ipfs_log_identity', lower(hex(record_id)), count(*)
FROM ipfs_log_identity
GROUP BY record_id
HAVING count(*) > 1
UNION ALL
SELECT 'ipfs_log_manifest', lower(hex(record_id)), count(*)
FROM ipfs_log_manifest
GROUP BY record_id
HAVING count(*) > 1
UNION ALL
SELECT 'node_journal', namespace, count(*)
FROM node_journal
GROUP BY namespace
HAVING count(*) > 1
UNION ALL
SELECT 'ipfs_log_head', concat_ws(' ', namespace, lower(hex(record_id))), count(*)
FROM ipfs_log_head
GROUP BY namespace, record_id
HAVING count(*) > 1
UNION ALL
SELECT 'ipfs_log_tail', concat_ws(' ', namespace, lower(hex(record_id))), count(*)
FROM ipfs_log_tail
GROUP BY namespace, record_id
HAVING count(*) > 1
UNION ALL
SELECT 'ipfs_log_view', concat_ws(' ', namespace, lower(hex(record_id))), count(*)
FROM ipfs_log_view
GROUP BY namespace, record_id
HAVING count(*) > 1
UNION ALL
SELECT 'ipfs_log_document', concat_ws(' ', namespace, document_key), count(*)
FROM ipfs_log_document
GROUP BY namespace, document_key
HAVING count(*) > 1
UNION ALL
SELECT 'namespace_state', namespace, count(*)
FROM namespace_state
GROUP BY namespace
HAVING count(*) > 1
UNION ALL
SELECT 'equivocation', concat_ws(' ', namespace, kind, key, position), count(*)
FROM equivocation
GROUP BY namespace, kind, key, position
HAVING count(*) > 1
UNION ALL
SELECT 'quarantine', lower(hex(quarantine_id)), count(*)
FROM quarantine
GROUP BY quarantine_id
HAVING count(*) > 1
UNION ALL
SELECT 'run', run_id, count(*)
FROM run
GROUP BY run_id
HAVING count(*) > 1
UNION ALL
SELECT 'node_resource', concat_ws(' ', namespace, author_fp, resource_id), count(*)
FROM node_resource
GROUP BY namespace, author_fp, resource_id
HAVING count(*) > 1
UNION ALL
SELECT 'peer_status', concat_ws(' ', namespace, peer), count(*)
FROM peer_status
GROUP BY namespace, peer
HAVING count(*) > 1
UNION ALL
SELECT 'wanted_resource', concat_ws(' ', namespace, author_fp, resource_id), count(*)
FROM wanted_resource
GROUP BY namespace, author_fp, resource_id
HAVING count(*) > 1
UNION ALL
SELECT 'snapshot', concat_ws(' ', namespace, lower(hex(snapshot_id))), count(*)
FROM snapshot
GROUP BY namespace, snapshot_id
HAVING count(*) > 1
UNION ALL
SELECT 'pruned_record', concat_ws(' ', namespace, lower(hex(record_id))), count(*)
FROM pruned_record
GROUP BY namespace, record_id
HAVING count(*) > 1

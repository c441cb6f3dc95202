-- Rows that stand in another bucket than the first two bytes of SHA-256 of their namespace (of quarantine_id while the
-- namespace is null) modulo N say. N is the table property strandline.buckets, filled in where the query
-- says {buckets}.
SELECT table_name, namespace, bucket, row_count
FROM (
  SELECT 'node_journal_line' AS table_name, namespace, bucket, sha2(CAST(namespace AS BINARY), 256) AS digest, count(*) AS row_count
  FROM node_journal_line
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'ipfs_log_entry', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM ipfs_log_entry
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'ipfs_log_identity', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM ipfs_log_identity
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'ipfs_log_manifest', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM ipfs_log_manifest
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'node_journal', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM node_journal
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'ipfs_log_head', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM ipfs_log_head
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'ipfs_log_tail', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM ipfs_log_tail
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'ipfs_log_view', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM ipfs_log_view
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'ipfs_log_document', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM ipfs_log_document
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'namespace_state', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM namespace_state
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'equivocation', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM equivocation
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'node_resource', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM node_resource
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'peer_status', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM peer_status
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'wanted_resource', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM wanted_resource
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'snapshot', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM snapshot
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'pruned_record', namespace, bucket, sha2(CAST(namespace AS BINARY), 256), count(*)
  FROM pruned_record
  GROUP BY namespace, bucket
  UNION ALL
  SELECT 'quarantine', namespace, bucket, coalesce(sha2(CAST(namespace AS BINARY), 256), hex(quarantine_id)), CAST(1 AS BIGINT)
  FROM quarantine
)
WHERE bucket <> CAST(conv(substring(digest, 1, 4), 16, 10) AS INT) % {buckets}

-- Logs, authorities and contexts that lack records from which their state was reduced. Pruned records count, each once; newer
-- records belong to the next reduction.
WITH held AS (
  SELECT e.namespace
  FROM ipfs_log_entry AS e
  LEFT ANTI JOIN pruned_record AS p ON p.namespace = e.namespace AND p.record_id = e.record_id
  UNION ALL
  SELECT f.namespace
  FROM aura_fact AS f
  LEFT ANTI JOIN pruned_record AS p ON p.namespace = f.namespace AND p.record_id = f.record_id
  UNION ALL
  SELECT namespace
  FROM pruned_record
  WHERE form = 'remove'
),
counted AS (
  SELECT namespace, count(*) AS records
  FROM held
  GROUP BY namespace
)
SELECT s.namespace, s.record_count, coalesce(c.records, 0) AS records_found
FROM namespace_state AS s
LEFT JOIN counted AS c ON c.namespace = s.namespace
WHERE s.dialect IN ('aura', 'ipfslog') AND s.record_count > coalesce(c.records, 0)

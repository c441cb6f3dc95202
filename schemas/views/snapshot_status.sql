-- Local snapshots with their status: applied (records were pruned by it), taken (the newest one, a collection can apply it)
-- or void (a newer one or a collection replaced it). is_current marks the one that reducers start from.
-- Example: SELECT namespace, sequence, status, prune_count FROM snapshot_status ORDER BY namespace, sequence
WITH applied AS (
  SELECT namespace, max_by(snapshot_id, gc_number) AS snapshot_id, collect_set(snapshot_id) AS snapshot_ids
  FROM pruned_record
  GROUP BY namespace
),
newest AS (
  SELECT namespace, max(sequence) AS sequence
  FROM snapshot
  WHERE origin = 'local'
  GROUP BY namespace
)
SELECT
  s.namespace,
  s.dialect,
  lower(hex(s.snapshot_id)) AS snapshot_id,
  s.sequence,
  CASE
    WHEN array_contains(a.snapshot_ids, s.snapshot_id) THEN 'applied'
    WHEN s.sequence = n.sequence AND s.base <=> a.snapshot_id THEN 'taken'
    ELSE 'void'
  END AS status,
  coalesce(s.snapshot_id = a.snapshot_id, false) AS is_current,
  s.record_count,
  s.prune_count,
  s.skip_window,
  lower(hex(s.state_hash)) AS state_hash,
  s.reducer_version
FROM snapshot AS s
JOIN newest AS n ON n.namespace = s.namespace
LEFT JOIN applied AS a ON a.namespace = s.namespace
WHERE s.origin = 'local'

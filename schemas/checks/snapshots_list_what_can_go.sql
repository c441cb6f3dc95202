-- Local snapshots, the newest or an applied one of a namespace, that list another number of records that can be pruned than
-- they state. Damaged ones that were replaced stay as they are.
WITH used AS (
  SELECT namespace, max_by(snapshot_id, sequence) AS snapshot_id
  FROM snapshot
  WHERE origin = 'local'
  GROUP BY namespace
  UNION
  SELECT namespace, snapshot_id
  FROM pruned_record
)
SELECT s.namespace, lower(hex(s.snapshot_id)) AS snapshot_id, s.prune_count, count(m.record_id) AS listed
FROM snapshot AS s
JOIN used AS u ON u.namespace = s.namespace AND u.snapshot_id = s.snapshot_id
LEFT JOIN snapshot_member AS m ON m.namespace = s.namespace AND m.snapshot_id = s.snapshot_id AND m.prune
WHERE s.origin = 'local'
GROUP BY s.namespace, s.snapshot_id, s.prune_count
HAVING count(m.record_id) <> s.prune_count

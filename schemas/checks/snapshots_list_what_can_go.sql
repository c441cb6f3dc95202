-- Local snapshots that list another number of records that can be pruned than they state.
SELECT s.namespace, lower(hex(s.snapshot_id)) AS snapshot_id, s.prune_count, count(m.record_id) AS listed
FROM snapshot AS s
LEFT JOIN snapshot_member AS m ON m.namespace = s.namespace AND m.snapshot_id = s.snapshot_id AND m.prune
WHERE s.origin = 'local'
GROUP BY s.namespace, s.snapshot_id, s.prune_count
HAVING count(m.record_id) <> s.prune_count

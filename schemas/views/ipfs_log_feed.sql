-- The items of every log with the store feed, in their order: those that were added and not deleted by a later entry.
-- Example: SELECT position, writer, value_json FROM ipfs_log_feed WHERE log_id = 'feed' ORDER BY position
WITH placed AS (
  SELECT v.namespace, e.log_id, v.position, e.cid, e.writer, v.clock_time, e.value_json, e.ops
  FROM ipfs_log_view AS v
  JOIN namespace_state AS s ON s.namespace = v.namespace AND get_json_object(s.configuration, '$.store') = 'feed'
  JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id
),
deleted AS (
  SELECT p.namespace, x.effect.target AS cid, max(p.position) AS position
  FROM placed AS p
  LATERAL VIEW explode(p.ops) x AS effect
  WHERE x.effect.op = 'DEL' AND x.effect.target IS NOT NULL
  GROUP BY p.namespace, x.effect.target
)
SELECT
  p.namespace,
  p.log_id,
  p.position,
  p.cid,
  p.writer,
  p.clock_time,
  p.value_json
FROM placed AS p
LEFT ANTI JOIN deleted AS d ON d.namespace = p.namespace AND d.cid = p.cid AND d.position > p.position
WHERE exists(p.ops, effect -> effect.op = 'ADD')

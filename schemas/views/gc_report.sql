-- The newest collection of each namespace that had records to prune: how many, how many bytes, and what keeps the others. The
-- newest is that of the run whose row was added last: no clock decides.
-- Example: SELECT namespace, outcome, prunable, bytes, holds FROM gc_report ORDER BY bytes DESC LIMIT 20
WITH newest AS (
  SELECT
    g.namespace,
    max_by(
      g.run_id,
      struct(CAST(get_json_object(r.detail, '$.run_version') AS BIGINT) AS seen, substring_index(g.run_id, '-', -1) AS random)
    ) AS run
  FROM gc_run AS g
  LEFT JOIN run AS r ON r.run_id = g.run_id
  GROUP BY g.namespace
)
SELECT
  g.namespace,
  n.run,
  g.outcome,
  g.reason,
  g.gc_number,
  aggregate(map_values(g.kinds), CAST(0 AS BIGINT), (total, each) -> total + each) AS prunable,
  g.pruned,
  g.bytes,
  g.kinds,
  g.holds,
  lower(hex(g.snapshot_id)) AS snapshot_id
FROM gc_run AS g
JOIN newest AS n ON n.namespace = g.namespace AND n.run = g.run_id

-- How each node's journal fares: its tip, its forks, the local nodes that lack pairs of it, what waits and what was rejected,
-- how often it repeats a pair, and the last break found in a delivery of it, with the number expected there and the number found.
-- Example: SELECT node, last_break_position, last_break_expected, last_break_actual FROM node_journal_health WHERE last_break_position IS NOT NULL
WITH quarantined AS (
  SELECT
    namespace,
    count_if(status = 'deferred') AS waiting,
    count_if(status = 'rejected') AS rejected,
    max_by(evidence, named_struct('last_seen', last_seen, 'quarantine_id', quarantine_id))
      FILTER (WHERE array_contains(reasons, 'LINE_NUMBER_MISMATCH')) AS evidence,
    max(last_seen) FILTER (WHERE array_contains(reasons, 'LINE_NUMBER_MISMATCH')) AS last_break_at
  FROM quarantine
  WHERE namespace IS NOT NULL AND scope = 'record' AND dialect = 'sdmp'
  GROUP BY namespace
),
unrecorded AS (
  SELECT concat('node:', peer) AS namespace, sort_array(collect_list(substring(namespace, 6))) AS nodes
  FROM peer_status
  WHERE unrecorded > 0
  GROUP BY peer
)
SELECT
  j.namespace,
  substring(j.namespace, 6) AS node,
  j.profile,
  j.tip_n,
  j.tip_number,
  j.tip_hash,
  j.line_count AS lines,
  j.pair_count AS pairs,
  j.duplicate_pairs,
  j.fork_count AS forks,
  j.common_n,
  coalesce(u.nodes, CAST(array() AS ARRAY<STRING>)) AS own_nodes_behind,
  coalesce(q.waiting, CAST(0 AS BIGINT)) AS waiting,
  coalesce(q.rejected, CAST(0 AS BIGINT)) AS rejected,
  CAST(get_json_object(q.evidence, '$.LINE_NUMBER_MISMATCH.position') AS BIGINT) AS last_break_position,
  get_json_object(q.evidence, '$.LINE_NUMBER_MISMATCH.expected') AS last_break_expected,
  get_json_object(q.evidence, '$.LINE_NUMBER_MISMATCH.actual') AS last_break_actual,
  q.last_break_at,
  lower(hex(s.state_hash)) AS state_hash,
  s.reduced_at
FROM node_journal AS j
JOIN namespace_state AS s ON s.namespace = j.namespace AND s.record_count = j.line_count
LEFT JOIN quarantined AS q ON q.namespace = j.namespace
LEFT JOIN unrecorded AS u ON u.namespace = j.namespace

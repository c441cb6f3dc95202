-- What each device displayed, in order: messages, and the screws that took rows back. A struck row was displayed, and a later
-- screw rewound the view to its position or before it; a replayed row has a clock above that of its screw. Order by i, then
-- by line. Devices whose log is forked have no history.
-- Example: SELECT what, shown_clock, struck FROM device_log_history WHERE label = 'phone' ORDER BY i, line
WITH tip AS (
  SELECT namespace, log, min(label) AS label, first(bounds) AS bounds
  FROM device_log_tip
  WHERE record_id IS NOT NULL
  GROUP BY namespace, log
  HAVING count(*) = 1 AND NOT bool_or(forked)
),
screw AS (
  SELECT
    namespace,
    log,
    record_id,
    lamport,
    rewind,
    n_after,
    before_bounds,
    row_number() OVER (PARTITION BY namespace, log ORDER BY seq) AS i
  FROM device_log_screw
  WHERE verdict = 'true'
),
turn AS (
  SELECT namespace, log, 0 AS i, CAST(NULL AS BINARY) AS record_id, CAST(NULL AS BIGINT) AS lamport, 0 AS rewind, 0 AS n_after
  FROM tip
  UNION ALL
  SELECT namespace, log, i, record_id, lamport, rewind, n_after
  FROM screw
),
episode AS (
  SELECT
    t.*,
    p.label,
    CASE WHEN s.i IS NULL THEN p.bounds ELSE s.before_bounds END AS bounds,
    min(t.rewind) OVER (
      PARTITION BY t.namespace, t.log ORDER BY t.i ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ) AS struck_from
  FROM turn AS t
  JOIN tip AS p ON p.namespace = t.namespace AND p.log = t.log
  LEFT JOIN screw AS s ON s.namespace = t.namespace AND s.log = t.log AND s.i = t.i + 1
),
bound AS (
  SELECT namespace, log, label, i, lamport, rewind, n_after, struck_from, inline(bounds) AS (branch, seq)
  FROM episode
),
displayed AS (
  SELECT
    b.namespace,
    b.log,
    b.label,
    b.i,
    b.rewind,
    b.n_after,
    b.struck_from,
    b.lamport AS screw_clock,
    v.bucket,
    v.record_id,
    v.lamport,
    row_number() OVER (PARTITION BY b.namespace, b.log, b.i ORDER BY v.lamport, v.utc, v.record_id) - 1 AS position,
    lag(v.record_id) OVER (PARTITION BY b.namespace, b.log, b.i ORDER BY v.lamport, v.utc, v.record_id) AS previous
  FROM bound AS b
  JOIN device_log_view AS v ON v.namespace = b.namespace AND v.branch = b.branch AND v.seq <= b.seq
),
line AS (
  SELECT
    namespace,
    log,
    label,
    i,
    position + 1 AS line,
    position,
    bucket,
    record_id,
    previous,
    CASE WHEN i > 0 AND position < n_after THEN screw_clock + 1 + position - rewind END AS replay_clock,
    lamport,
    coalesce(position >= struck_from, false) AS struck
  FROM displayed
  WHERE position >= rewind
  UNION ALL
  SELECT
    namespace, log, label, i, 0 AS line, NULL AS position, NULL AS bucket, record_id, NULL AS previous, NULL AS replay_clock,
    lamport, false AS struck
  FROM episode
  WHERE i > 0
)
SELECT
  l.namespace,
  l.label,
  l.i,
  l.line,
  CASE WHEN l.position IS NULL THEN 'screw' ELSE try_validate_utf8(CAST(e.body AS STRING)) END AS what,
  coalesce(l.replay_clock, l.lamport) AS shown_clock,
  l.struck,
  l.position,
  l.replay_clock,
  lower(hex(l.log)) AS log,
  lower(hex(l.record_id)) AS record_id,
  lower(hex(l.previous)) AS previous
FROM line AS l
JOIN namespace_state AS s ON s.namespace = l.namespace
LEFT JOIN device_log_entry AS e ON e.bucket = l.bucket AND e.namespace = l.namespace AND e.record_id = l.record_id

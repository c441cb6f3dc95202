"""The drawing of a group: its newest entries by clock, and the entries that each one names."""

from typing import Final

from strandline.dialect_api.drawing import DrawingSql

DRAWING: Final = DrawingSql(
    words="Entries of all devices from the newest to the oldest; lines lead to the entries that each one names.",
    tables=("device_log_entry", "device_log_view", "device_log_tip"),
    nodes="""WITH listed AS (
  SELECT namespace, bucket, record_id, lamport, log, kind, prev, deps
  FROM device_log_entry
  WHERE {condition}
),
newest AS (
  SELECT max(lamport) AS top FROM listed
),
tip AS (
  SELECT namespace, log, min(label) AS label FROM device_log_tip WHERE {condition} GROUP BY namespace, log
)
SELECT
  e.lamport AS place,
  e.record_id AS id,
  CASE WHEN e.prev IS NULL THEN e.deps ELSE array_append(e.deps, e.prev) END AS parents,
  e.kind AS label,
  d.label AS author,
  concat(
    CASE WHEN t.record_id IS NULL THEN '' ELSE 'head ' END,
    CASE WHEN v.status = 'effective' OR v.status IS NULL THEN '' ELSE concat(v.status, ' ') END,
    CASE WHEN v.final THEN 'final' ELSE '' END
  ) AS marks
FROM listed AS e
CROSS JOIN newest AS n
LEFT JOIN tip AS d ON d.namespace = e.namespace AND d.log = e.log
LEFT JOIN device_log_tip AS t ON t.bucket = e.bucket AND t.namespace = e.namespace AND t.record_id = e.record_id
LEFT JOIN device_log_view AS v ON v.bucket = e.bucket AND v.namespace = e.namespace AND v.record_id = e.record_id
WHERE e.lamport > n.top - {most}
ORDER BY place, id
LIMIT {most}""",
)

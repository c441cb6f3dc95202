"""The drawing of a log: its newest entries in their order, the entries that each follows, its heads and tails."""

from typing import Final

from strandline.dialect_api.drawing import DrawingSql

DRAWING: Final = DrawingSql(
    words="Entries of the log from the newest to the oldest; lines lead to the entries that each one follows.",
    tables=("ipfs_log_entry", "ipfs_log_view", "ipfs_log_head", "ipfs_log_tail"),
    nodes="""WITH placed AS (
  SELECT namespace, bucket, record_id, position, clock_ok FROM ipfs_log_view WHERE {condition}
),
newest AS (
  SELECT max(position) AS top FROM placed
)
SELECT
  v.position AS place,
  v.record_id AS id,
  e.next AS parents,
  left(e.payload_json, 60) AS label,
  left(e.writer, 16) AS author,
  concat(
    CASE WHEN h.record_id IS NULL THEN '' ELSE 'head ' END,
    CASE WHEN t.kind IS NULL THEN '' ELSE concat(t.kind, ' ') END,
    CASE WHEN v.clock_ok THEN '' ELSE 'clock' END
  ) AS marks
FROM placed AS v
CROSS JOIN newest AS n
LEFT JOIN ipfs_log_entry AS e ON e.bucket = v.bucket AND e.namespace = v.namespace AND e.record_id = v.record_id
LEFT JOIN ipfs_log_head AS h ON h.bucket = v.bucket AND h.namespace = v.namespace AND h.record_id = v.record_id
LEFT JOIN ipfs_log_tail AS t ON t.bucket = v.bucket AND t.namespace = v.namespace AND t.record_id = v.record_id
WHERE v.position > n.top - {most}
ORDER BY place, id
LIMIT {most}""",
)

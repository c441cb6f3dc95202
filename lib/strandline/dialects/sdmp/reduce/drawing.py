"""The drawing of a node journal: its first line, the lines around its first fork, and its last ones."""

from typing import Final

from strandline.dialect_api.drawing import DrawingSql

DRAWING: Final = DrawingSql(
    words="Lines of the journal from the newest to the oldest; each follows the line whose hash it has as its number. "
    "The first line, the lines around the first fork and the last lines are shown.",
    tables=("node_journal", "node_journal_line"),
    nodes="""WITH journal AS (
  SELECT namespace, bucket, tip_n, common_n FROM node_journal WHERE {condition}
)
SELECT
  l.n AS place,
  l.line_hash AS id,
  l.line_number AS parents,
  CASE WHEN l.resource_id IS NULL THEN NULL ELSE concat('resource ', left(l.resource_id, 16)) END AS label,
  left(l.author_fp, 16) AS author,
  CASE WHEN l.n = 1 THEN 'start' ELSE '' END AS marks
FROM journal AS j
JOIN node_journal_line AS l ON l.bucket = j.bucket AND l.namespace = j.namespace
WHERE l.n = 1 OR l.n > j.tip_n - 8 OR (l.n >= j.common_n - 2 AND l.n <= j.common_n + 8)
ORDER BY place, id
LIMIT {most}""",
)

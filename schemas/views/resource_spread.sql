-- How far each pair of author and resource has spread: the nodes whose journal records it on any branch, their number, and
-- the number of nodes that lack it. Nodes of the other profile have other forms of ids and do not count as lacking it;
-- nodes with unreduced lines are left out on both sides.
-- Example: SELECT resource_id, recorded_count, lacking_count FROM resource_spread WHERE lacking_count > 0 ORDER BY lacking_count DESC
WITH held AS (
  SELECT namespace, count(*) AS held_count
  FROM node_journal_line
  GROUP BY namespace
),
journal AS (
  SELECT j.namespace, j.profile
  FROM node_journal AS j
  JOIN namespace_state AS s ON s.namespace = j.namespace AND s.record_count = j.line_count
  JOIN held AS h ON h.namespace = j.namespace AND h.held_count = j.line_count
),
fleet AS (
  SELECT profile, count(*) AS node_count
  FROM journal
  GROUP BY profile
),
spread AS (
  SELECT
    l.author_fp,
    l.resource_id,
    j.profile,
    sort_array(collect_set(substring(l.namespace, 6))) AS nodes
  FROM node_journal_line AS l
  JOIN journal AS j ON j.namespace = l.namespace
  WHERE l.n > 1
  GROUP BY l.author_fp, l.resource_id, j.profile
)
SELECT
  p.author_fp,
  p.resource_id,
  p.profile,
  p.nodes,
  CAST(size(p.nodes) AS BIGINT) AS recorded_count,
  f.node_count - size(p.nodes) AS lacking_count
FROM spread AS p
JOIN fleet AS f ON f.profile = p.profile

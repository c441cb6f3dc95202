-- Forks of node journals that are missing in the table equivocation, are there without cause, or have other members than
-- the lines show. Only for journals whose state was reduced from all stored lines.
WITH current AS (
  SELECT l.namespace
  FROM node_journal_line AS l
  JOIN namespace_state AS s ON s.namespace = l.namespace
  GROUP BY l.namespace, s.record_count
  HAVING count(*) = s.record_count
),
forked AS (
  SELECT namespace, line_number AS position, sort_array(collect_list(record_id)) AS members
  FROM node_journal_line
  WHERE n > 1
  GROUP BY namespace, line_number
  HAVING count(*) > 1
),
stored AS (
  SELECT namespace, position, members, member_count, key
  FROM equivocation
  WHERE kind = 'SDMP_FORK'
)
SELECT
  c.namespace,
  coalesce(f.position, e.position) AS position,
  size(f.members) AS member_count_found,
  e.member_count
FROM forked AS f
FULL OUTER JOIN stored AS e ON e.namespace = f.namespace AND e.position = f.position
JOIN current AS c ON c.namespace = coalesce(f.namespace, e.namespace)
WHERE NOT (
  slice(f.members, 1, 65536) <=> e.members
  AND CAST(size(f.members) AS BIGINT) <=> e.member_count
  AND concat('node:', e.key) <=> c.namespace
)

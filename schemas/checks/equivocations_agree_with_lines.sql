-- Forks of node journals that are missing in the table equivocation, are there without cause, or have other members than
-- the lines show. Only for journals whose state was reduced from all stored lines.
WITH current AS (
  SELECT l.namespace
  FROM node_journal_line AS l
  JOIN namespace_state AS s ON s.namespace = l.namespace
  GROUP BY l.namespace, s.record_count
  HAVING count(*) = s.record_count
),
numbered AS (
  SELECT
    namespace,
    line_number AS position,
    record_id,
    row_number() OVER (PARTITION BY namespace, line_number ORDER BY record_id) AS number
  FROM node_journal_line
  WHERE n > 1
),
forked AS (
  SELECT
    namespace,
    position,
    sort_array(collect_list(record_id) FILTER (WHERE number <= 65536)) AS members,
    CAST(max(number) AS BIGINT) AS member_count
  FROM numbered
  GROUP BY namespace, position
  HAVING max(number) > 1
),
stored AS (
  SELECT namespace, position, members, member_count, key
  FROM equivocation
  WHERE kind = 'SDMP_FORK'
)
SELECT
  c.namespace,
  coalesce(f.position, e.position) AS position,
  f.member_count AS member_count_found,
  e.member_count
FROM forked AS f
FULL OUTER JOIN stored AS e ON e.namespace = f.namespace AND e.position = f.position
JOIN current AS c ON c.namespace = coalesce(f.namespace, e.namespace)
WHERE NOT (
  f.members <=> e.members
  AND f.member_count <=> e.member_count
  AND concat('node:', e.key) <=> c.namespace
)

-- Logs whose reduced rows differ from their entries: number of entries of allowed writers, positions from 1 without a gap,
-- heads, missing digests. Only for logs whose state was reduced from all stored entries and without pruned entries.
WITH log AS (
  SELECT s.namespace, first(from_json(s.configuration, 'store STRING, whence STRING, write ARRAY<STRING>')).write AS write
  FROM namespace_state AS s
  JOIN ipfs_log_entry AS e ON e.namespace = s.namespace
  WHERE s.dialect = 'ipfslog'
  GROUP BY s.namespace, s.record_count
  HAVING count(*) = s.record_count
),
listed AS (
  SELECT e.namespace, e.record_id, e.next
  FROM ipfs_log_entry AS e
  JOIN log AS l ON l.namespace = e.namespace
  WHERE array_contains(l.write, '*') OR array_contains(l.write, e.writer) OR array_contains(l.write, concat('key:', e.key))
),
named AS (
  SELECT DISTINCT namespace, explode(next) AS record_id
  FROM listed
),
found AS (
  SELECT
    l.namespace,
    count(*) AS entries,
    collect_list(l.record_id) FILTER (WHERE n.record_id IS NULL) AS heads
  FROM listed AS l
  LEFT JOIN named AS n ON n.namespace = l.namespace AND n.record_id = l.record_id
  GROUP BY l.namespace
),
lacked AS (
  SELECT n.namespace, collect_list(n.record_id) AS missing
  FROM named AS n
  LEFT ANTI JOIN listed AS l ON l.namespace = n.namespace AND l.record_id = n.record_id
  GROUP BY n.namespace
),
placed AS (
  SELECT
    v.namespace,
    count(e.record_id) AS entries,
    count(*) AS place_count,
    count(DISTINCT v.position) AS distinct_count,
    max(v.position) AS last_position
  FROM ipfs_log_view AS v
  LEFT JOIN listed AS e ON e.namespace = v.namespace AND e.record_id = v.record_id
  GROUP BY v.namespace
),
headed AS (
  SELECT namespace, collect_list(record_id) AS heads, max(rank) AS last_rank
  FROM ipfs_log_head
  GROUP BY namespace
),
tailed AS (
  SELECT namespace, array_distinct(flatten(collect_list(missing))) AS missing
  FROM ipfs_log_tail
  GROUP BY namespace
)
SELECT
  l.namespace,
  f.entries AS entries_found,
  p.entries,
  p.last_position,
  size(f.heads) AS head_count_found,
  size(h.heads) AS head_count,
  size(k.missing) AS missing_count_found,
  size(t.missing) AS missing_count
FROM log AS l
LEFT JOIN found AS f ON f.namespace = l.namespace
LEFT JOIN lacked AS k ON k.namespace = l.namespace
LEFT JOIN placed AS p ON p.namespace = l.namespace
LEFT JOIN headed AS h ON h.namespace = l.namespace
LEFT JOIN tailed AS t ON t.namespace = l.namespace
WHERE NOT (
  f.entries <=> p.entries
  AND p.entries <=> p.place_count
  AND p.entries <=> p.distinct_count
  AND p.entries <=> p.last_position
  AND array_sort(f.heads) <=> array_sort(h.heads)
  AND array_size(h.heads) <=> h.last_rank
  AND array_sort(coalesce(k.missing, CAST(array() AS ARRAY<BINARY>)))
    <=> array_sort(coalesce(t.missing, CAST(array() AS ARRAY<BINARY>)))
)

-- Logs whose reduced rows differ from their entries: number of entries of allowed writers, positions from 1 without a gap,
-- heads, missing digests. Only for logs whose state was reduced from all stored entries and without pruned entries.
WITH log AS (
  SELECT s.namespace, first(from_json(s.configuration, 'write ARRAY<STRING>, write_list STRING')) AS told
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
  LEFT JOIN ipfs_log_manifest AS m ON m.record_id = unhex(l.told.write_list)
  WHERE array_contains(coalesce(l.told.write, m.write), '*')
    OR array_contains(coalesce(l.told.write, m.write), e.writer)
    OR array_contains(coalesce(l.told.write, m.write), concat('key:', e.key))
),
ids AS (
  SELECT namespace, record_id, 1 AS as_entry, 0 AS as_parent, 0 AS as_head, 0 AS rank, 0 AS as_missing FROM listed
  UNION ALL
  SELECT namespace, explode(next), 0, 1, 0, 0, 0 FROM listed
  UNION ALL
  SELECT namespace, record_id, 0, 0, 1, rank, 0 FROM ipfs_log_head
  UNION ALL
  SELECT namespace, explode(missing), 0, 0, 0, 0, 1 FROM ipfs_log_tail
),
judged AS (
  SELECT
    namespace,
    sum(as_entry) AS entries,
    if(max(as_parent) = 0, sum(as_entry), 0) AS heads_found,
    sum(as_head) AS heads,
    max(rank) AS last_rank,
    if(sum(as_entry) = 0, max(as_parent), 0) AS missing_found,
    max(as_missing) AS missing
  FROM ids
  GROUP BY namespace, record_id
),
found AS (
  SELECT
    namespace,
    sum(entries) AS entries,
    sum(heads_found) AS heads_found,
    sum(heads) AS heads,
    max(last_rank) AS last_rank,
    sum(missing_found) AS missing_found,
    sum(missing) AS missing,
    count_if(heads_found <> heads OR missing_found <> missing) AS differing
  FROM judged
  GROUP BY namespace
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
)
SELECT
  l.namespace,
  f.entries AS entries_found,
  p.entries,
  p.last_position,
  f.heads_found AS head_count_found,
  f.heads AS head_count,
  f.missing_found AS missing_count_found,
  f.missing AS missing_count
FROM log AS l
LEFT JOIN found AS f ON f.namespace = l.namespace
LEFT JOIN placed AS p ON p.namespace = l.namespace
WHERE NOT (
  f.entries <=> p.entries
  AND p.entries <=> p.place_count
  AND p.entries <=> p.distinct_count
  AND p.entries <=> p.last_position
  AND (f.namespace IS NULL OR (f.differing = 0 AND f.heads_found > 0 AND f.heads <=> f.last_rank))
)

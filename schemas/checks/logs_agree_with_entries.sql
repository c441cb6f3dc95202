-- Logs whose reduced rows differ from their entries: number of entries of allowed writers, positions from 1 without a gap,
-- heads, missing digests. Only for logs whose state was reduced from all stored entries and without pruned entries.
WITH log AS (
  SELECT s.namespace, sha2(CAST(s.configuration AS BINARY), 256) AS list_id
  FROM namespace_state AS s
  JOIN (SELECT namespace, count(*) AS entries FROM ipfs_log_entry GROUP BY namespace) AS e
    ON e.namespace = s.namespace AND e.entries = s.record_count
  WHERE s.dialect = 'ipfslog'
),
writer AS (
  SELECT c.list_id, explode(array_distinct(coalesce(c.told.write, m.write))) AS text
  FROM (
    SELECT
      sha2(CAST(configuration AS BINARY), 256) AS list_id,
      from_json(configuration, 'write ARRAY<STRING>, write_list STRING') AS told
    FROM (SELECT DISTINCT configuration FROM namespace_state WHERE dialect = 'ipfslog')
  ) AS c
  LEFT JOIN ipfs_log_manifest AS m ON m.record_id = unhex(c.told.write_list)
),
listed AS (
  SELECT e.namespace, e.record_id, e.next
  FROM log AS l
  LEFT JOIN writer AS a ON a.list_id = l.list_id AND a.text = '*'
  JOIN ipfs_log_entry AS e ON e.namespace = l.namespace
  LEFT JOIN writer AS w ON w.list_id = l.list_id AND w.text = e.writer
  LEFT JOIN writer AS k ON k.list_id = l.list_id AND k.text = concat('key:', e.key)
  WHERE coalesce(a.text, w.text, k.text) IS NOT NULL
),
ids AS (
  SELECT
    namespace,
    id AS record_id,
    if(place = 0, 1, 0) AS as_entry,
    if(place = 0, 0, 1) AS as_parent,
    0 AS as_head,
    0 AS rank,
    0 AS as_missing,
    0 AS as_place
  FROM listed
  LATERAL VIEW posexplode(concat(array(record_id), next)) n AS place, id
  UNION ALL
  SELECT namespace, record_id, 0, 0, 1, rank, 0, 0 FROM ipfs_log_head
  UNION ALL
  SELECT namespace, explode(missing), 0, 0, 0, 0, 1, 0 FROM ipfs_log_tail
  UNION ALL
  SELECT namespace, record_id, 0, 0, 0, 0, 0, 1 FROM ipfs_log_view
),
judged AS (
  SELECT
    namespace,
    sum(as_entry) AS entries,
    if(max(as_parent) = 0, sum(as_entry), 0) AS heads_found,
    sum(as_head) AS heads,
    max(rank) AS last_rank,
    if(sum(as_entry) = 0, max(as_parent), 0) AS missing_found,
    max(as_missing) AS missing,
    if(max(as_entry) = 0, 0, sum(as_place)) AS placed
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
    sum(placed) AS placed,
    count_if(heads_found <> heads OR missing_found <> missing) AS differing
  FROM judged
  GROUP BY namespace
),
place AS (
  SELECT
    namespace,
    count(*) AS place_count,
    count(DISTINCT position) AS distinct_count,
    max(position) AS last_position
  FROM ipfs_log_view
  GROUP BY namespace
)
SELECT
  l.namespace,
  f.entries AS entries_found,
  f.placed AS entries,
  p.last_position,
  f.heads_found AS head_count_found,
  f.heads AS head_count,
  f.missing_found AS missing_count_found,
  f.missing AS missing_count
FROM log AS l
LEFT JOIN found AS f ON f.namespace = l.namespace
LEFT JOIN place AS p ON p.namespace = l.namespace
WHERE NOT (
  f.entries <=> f.placed
  AND f.placed <=> p.place_count
  AND f.placed <=> p.distinct_count
  AND f.placed <=> p.last_position
  AND (f.namespace IS NULL OR (f.differing = 0 AND f.heads_found > 0 AND f.heads <=> f.last_rank))
)

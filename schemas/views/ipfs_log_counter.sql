-- The total of every log with the store counter: the sum of the greatest count of each id, in doubles, added in ascending
-- order, so that every replica gets the same total.
-- Example: SELECT log_id, total, ids FROM ipfs_log_counter ORDER BY total DESC
WITH counted AS (
  SELECT
    namespace,
    sort_array(collect_list(CAST(value_json AS DOUBLE))) AS counts
  FROM ipfs_log_document
  WHERE store = 'counter' AND NOT deleted
  GROUP BY namespace
)
SELECT
  s.namespace,
  url_decode(substring(s.namespace, 5)) AS log_id,
  coalesce(aggregate(c.counts, CAST(0 AS DOUBLE), (total, count) -> total + count), CAST(0 AS DOUBLE)) AS total,
  CAST(coalesce(array_size(c.counts), 0) AS BIGINT) AS ids
FROM namespace_state AS s
LEFT JOIN counted AS c ON c.namespace = s.namespace
WHERE s.dialect = 'ipfslog' AND get_json_object(s.configuration, '$.store') = 'counter'

-- The missing entries of partial logs: one row for each digest that an entry follows and that is not stored, with the
-- number of entries that name it and the address of the first of them.
-- Example: SELECT log_id, count(*) AS missing FROM ipfs_log_missing GROUP BY log_id ORDER BY missing DESC
SELECT
  t.namespace,
  url_decode(substring(t.namespace, 5)) AS log_id,
  lower(hex(m.digest)) AS missing,
  count(*) AS named_by_count,
  min(t.cid) AS named_by
FROM ipfs_log_tail AS t
JOIN namespace_state AS s ON s.namespace = t.namespace
LATERAL VIEW explode(t.missing) m AS digest
GROUP BY t.namespace, m.digest

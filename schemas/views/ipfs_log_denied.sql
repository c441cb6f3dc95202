-- Valid stored entries whose writer is not on the write list of their log: no state includes them. They are included as
-- soon as a list names their writer, or key: with their key.
-- Example: SELECT log_id, writer, count(*) AS entries FROM ipfs_log_denied GROUP BY log_id, writer ORDER BY entries DESC
WITH log AS (
  SELECT namespace, from_json(configuration, 'store STRING, whence STRING, write ARRAY<STRING>, write_list STRING') AS told
  FROM namespace_state
  WHERE dialect = 'ipfslog'
)
SELECT
  e.namespace,
  e.log_id,
  lower(hex(e.record_id)) AS record_id,
  e.cid,
  e.writer,
  e.key,
  e.clock_time,
  e.payload_json,
  e.source,
  e.run_id,
  e.landed_at
FROM ipfs_log_entry AS e
JOIN log AS l ON l.namespace = e.namespace
LEFT JOIN ipfs_log_manifest AS m ON m.record_id = unhex(l.told.write_list)
WHERE NOT array_contains(coalesce(l.told.write, m.write), '*')
  AND NOT array_contains(coalesce(l.told.write, m.write), e.writer)
  AND NOT array_contains(coalesce(l.told.write, m.write), concat('key:', e.key))

-- Valid stored entries whose writer is not on the write list of their log: no state includes them. They are included as
-- soon as a list names their writer, or key: with their key.
-- Example: SELECT log_id, writer, count(*) AS entries FROM ipfs_log_denied GROUP BY log_id, writer ORDER BY entries DESC
--
-- A list may have 299,000 texts and name any number of logs: each is there once for the logs of equal configuration, and an
-- entry looks up two texts. No entry is compared with a whole list.
WITH list AS (
  SELECT c.list_id, coalesce(c.told.write, m.write) AS write
  FROM (
    SELECT
      sha2(CAST(configuration AS BINARY), 256) AS list_id,
      from_json(configuration, 'write ARRAY<STRING>, write_list STRING') AS told
    FROM (SELECT DISTINCT configuration FROM namespace_state WHERE dialect = 'ipfslog')
  ) AS c
  LEFT JOIN ipfs_log_manifest AS m ON m.record_id = unhex(c.told.write_list)
),
listed AS (
  SELECT list_id, explode(write) AS text
  FROM list
),
log AS (
  SELECT s.namespace, w.list_id
  FROM namespace_state AS s
  JOIN list AS w ON w.list_id = sha2(CAST(s.configuration AS BINARY), 256)
  WHERE s.dialect = 'ipfslog' AND NOT array_contains(w.write, '*')
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
LEFT ANTI JOIN listed AS w ON w.list_id = l.list_id AND w.text = e.writer
LEFT ANTI JOIN listed AS k ON k.list_id = l.list_id AND k.text = concat('key:', e.key)

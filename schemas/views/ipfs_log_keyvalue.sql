-- The keys of every log with the store keyvalue, each with its newest value and the entry that set it. Deleted keys are
-- left out.
-- Example: SELECT document_key, value_json FROM ipfs_log_keyvalue WHERE log_id = 'settings' ORDER BY document_key
SELECT
  d.namespace,
  url_decode(substring(d.namespace, 5)) AS log_id,
  d.document_key,
  d.value_json,
  lower(hex(d.record_id)) AS record_id,
  e.cid,
  e.writer,
  e.clock_time
FROM ipfs_log_document AS d
JOIN namespace_state AS s ON s.namespace = d.namespace
JOIN ipfs_log_entry AS e ON e.namespace = d.namespace AND e.record_id = d.record_id
WHERE d.store = 'keyvalue' AND NOT d.deleted

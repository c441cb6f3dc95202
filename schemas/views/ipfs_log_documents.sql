-- The documents of every log with the store documents, each by its key in its newest version. Deleted documents are left
-- out.
-- Example: SELECT document_key, get_json_object(value_json, '$.name') AS name FROM ipfs_log_documents ORDER BY document_key
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
WHERE d.store = 'documents' AND NOT d.deleted

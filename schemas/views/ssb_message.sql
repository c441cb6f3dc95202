-- Messages of Scuttlebutt feeds, with keys as Scuttlebutt writes them. content is JSON; type and text are null if it is
-- encrypted, or has none.
-- Example: SELECT sequence, sent_at, type, text FROM ssb_message ORDER BY author, sequence
SELECT
  concat('%', base64(record_id), '.sha256') AS key,
  concat('@', base64(log), '.ed25519') AS author,
  seq AS sequence,
  timestamp_millis(utc) AS sent_at,
  get_json_object(CAST(body AS STRING), '$.type') AS type,
  get_json_object(CAST(body AS STRING), '$.text') AS text,
  CAST(body AS STRING) AS content,
  concat('%', base64(prev), '.sha256') AS previous,
  namespace
FROM device_log_entry
WHERE profile = 'ssb'

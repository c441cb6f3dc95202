-- Entries, identities and manifests of logs whose record id is not the SHA-256 of their block, and entries with
-- contradicting columns: the identity is missing, is invalid or has another signing key; a clock of another key has no
-- flag.
WITH held AS (
  SELECT 'ipfs_log_entry' AS table_name, record_id, block FROM ipfs_log_entry
  UNION ALL
  SELECT 'ipfs_log_identity', record_id, block FROM ipfs_log_identity
  UNION ALL
  SELECT 'ipfs_log_manifest', record_id, block FROM ipfs_log_manifest
)
SELECT table_name, lower(hex(record_id)) AS record_id, 'record_id' AS wrong
FROM held
WHERE record_id <> unhex(sha2(block, 256))
UNION ALL
SELECT 'ipfs_log_entry', lower(hex(e.record_id)), 'identity'
FROM ipfs_log_entry AS e
LEFT JOIN ipfs_log_identity AS i ON i.record_id = e.identity_digest
WHERE e.variant <> 'v0'
  AND (i.record_id IS NULL OR NOT i.valid OR i.id <> e.writer
    OR (i.public_key <> e.key AND NOT array_contains(e.flags, 'KEY_FORM')))
UNION ALL
SELECT 'ipfs_log_entry', lower(hex(record_id)), 'clock_id'
FROM ipfs_log_entry
WHERE clock_id <> key AND NOT array_contains(flags, 'CLOCK_ID_MISMATCH')

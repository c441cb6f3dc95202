-- Entries of device logs that are accepted but still wait in quarantine. A run that was killed between its commits leaves
-- such rows; the next run that reads input deletes them.
SELECT lower(hex(q.quarantine_id)) AS quarantine_id, q.namespace, lower(hex(q.record_id)) AS record_id
FROM quarantine AS q
JOIN device_log_entry AS e ON e.namespace = q.namespace AND e.record_id = q.record_id
WHERE q.status = 'deferred' AND q.dialect = 'devicelog'

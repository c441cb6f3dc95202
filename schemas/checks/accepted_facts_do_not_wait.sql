-- Facts that are accepted but still wait in quarantine. A run that was killed between its commits leaves such rows; the next
-- run that reads input deletes them.
SELECT lower(hex(q.quarantine_id)) AS quarantine_id, q.namespace, lower(hex(q.record_id)) AS record_id
FROM quarantine AS q
JOIN aura_fact AS f ON f.namespace = q.namespace AND f.record_id = q.record_id
WHERE q.status = 'deferred' AND q.dialect = 'aura'

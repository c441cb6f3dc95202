-- Journal lines that are accepted but still wait in quarantine. A run that was killed between its commits leaves such
-- rows; the next run deletes them.
SELECT lower(hex(q.quarantine_id)) AS quarantine_id, q.namespace, lower(hex(q.record_id)) AS record_id
FROM quarantine AS q
JOIN node_journal_line AS l ON l.namespace = q.namespace AND l.record_id = q.record_id
WHERE q.status = 'deferred' AND q.dialect = 'sdmp'

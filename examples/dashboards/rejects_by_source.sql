-- Rejects by source: which file, message or lake has rejected records, how many, and why the first of them was rejected.
SELECT
  substring_index(source, '/', -1) AS name,
  dialect,
  rejected,
  array_join(reasons, ', ') AS first_reasons,
  source_offset AS first_byte
FROM damaged_source
ORDER BY rejected DESC, name
LIMIT 50

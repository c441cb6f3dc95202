-- The sources (files, messages or lakes) with rejected records, one row per source and dialect: byte offset, reasons and
-- quarantine id of the first rejected record, the number of rejected records, and how many of these have no namespace: no
-- view of namespaces counts them. A record counts only for the source that delivered it first.
-- Example: SELECT source, source_offset, reasons, rejected FROM damaged_source ORDER BY last_seen DESC, source
WITH placed AS (
  SELECT
    source,
    dialect,
    source_offset,
    reasons,
    quarantine_id,
    row_number() OVER (PARTITION BY dialect, source ORDER BY coalesce(source_offset, 0), quarantine_id) AS place,
    count(*) OVER (PARTITION BY dialect, source) AS rejected,
    count_if(namespace IS NULL) OVER (PARTITION BY dialect, source) AS nameless,
    min(first_seen) OVER (PARTITION BY dialect, source) AS first_seen,
    max(last_seen) OVER (PARTITION BY dialect, source) AS last_seen
  FROM quarantine
  WHERE status = 'rejected' AND scope = 'record' AND source IS NOT NULL
)
SELECT
  source,
  dialect,
  rejected,
  nameless,
  source_offset,
  reasons,
  lower(hex(quarantine_id)) AS first_rejected,
  first_seen,
  last_seen
FROM placed
WHERE place = 1

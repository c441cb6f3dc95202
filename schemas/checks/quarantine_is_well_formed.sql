-- Quarantined rows without reasons, with reasons or awaited things that are not distinct and ascending, with bytes that
-- differ from their digest, or with a wrong id. The ids of rows with cut bytes are not checked.
SELECT lower(hex(quarantine_id)) AS quarantine_id, namespace, status, reasons, waits_for
FROM quarantine
WHERE size(reasons) = 0
  OR reasons <> array_sort(array_distinct(reasons))
  OR waits_for <> array_sort(array_distinct(waits_for))
  OR exists(waits_for, awaited -> NOT awaited RLIKE '\\A(record|line|identity|pin|state|rules):(?s:.)+\\z')
  OR first_seen > last_seen
  OR (times_seen = 1 AND first_run <> last_run)
  OR (raw_whole AND dialect NOT IN ('aura', 'devicelog') AND record_id <> unhex(sha2(raw, 256)))
  OR (
    raw_whole
    AND dialect = 'aura'
    AND record_id <> unhex(sha2(concat(CAST('strandline/aura/fact/1' AS BINARY), X'00', raw), 256))
  )
  OR (raw_whole AND raw_sha256 <> unhex(sha2(raw, 256)))
  OR (
    raw_whole AND quarantine_id <> unhex(
      sha2(
        concat(
          CAST('strandline/quarantine/1' AS BINARY), X'00',
          CAST(dialect AS BINARY), X'00', CAST(coalesce(namespace, '') AS BINARY), X'00', CAST(status AS BINARY), X'00',
          CAST(array_join(reasons, ',') AS BINARY), X'00', raw
        ),
        256
      )
    )
  )

-- Ingests that finished and whose counts do not add up: read = new + known + rejected + deferred, none of them negative.
WITH counted AS (
  SELECT
    run_id,
    started_at,
    coalesce(try_element_at(counts, 'read'), CAST(0 AS BIGINT)) AS read_count,
    coalesce(try_element_at(counts, 'new'), CAST(0 AS BIGINT)) AS new_count,
    coalesce(try_element_at(counts, 'known'), CAST(0 AS BIGINT)) AS known_count,
    coalesce(try_element_at(counts, 'rejected'), CAST(0 AS BIGINT)) AS rejected_count,
    coalesce(try_element_at(counts, 'deferred'), CAST(0 AS BIGINT)) AS deferred_count
  FROM run
  WHERE command = 'ingest' AND outcome IN ('ok', 'found')
)
SELECT *
FROM counted
WHERE read_count <> new_count + known_count + rejected_count + deferred_count
  OR least(read_count, new_count, known_count, rejected_count, deferred_count) < 0

-- Runs of ingest and sync that finished and whose counts do not add up: read = new + known + rejected + deferred, none of
-- them negative; of a sync from another lake missing = read + refused, too.
WITH counted AS (
  SELECT
    run_id,
    started_at,
    coalesce(try_element_at(counts, 'read'), CAST(0 AS BIGINT)) AS read_count,
    coalesce(try_element_at(counts, 'new'), CAST(0 AS BIGINT)) AS new_count,
    coalesce(try_element_at(counts, 'known'), CAST(0 AS BIGINT)) AS known_count,
    coalesce(try_element_at(counts, 'rejected'), CAST(0 AS BIGINT)) AS rejected_count,
    coalesce(try_element_at(counts, 'deferred'), CAST(0 AS BIGINT)) AS deferred_count,
    try_element_at(counts, 'missing') AS missing_count,
    coalesce(try_element_at(counts, 'refused'), CAST(0 AS BIGINT)) AS refused_count
  FROM run
  WHERE command IN ('ingest', 'sync') AND outcome IN ('ok', 'found')
)
SELECT *
FROM counted
WHERE read_count <> new_count + known_count + rejected_count + deferred_count
  OR (missing_count IS NOT NULL AND missing_count <> read_count + refused_count)
  OR least(read_count, new_count, known_count, rejected_count, deferred_count) < 0

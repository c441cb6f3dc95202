-- Runs that read records and whose counts do not add up, also if they ended with a fault: read = new + known + rejected +
-- deferred, none of them negative. The row of a stream sums up its batches, each of which is an ingest. For `sync --from`:
-- missing = read + refused, unless a fault stopped the reading.
WITH counted AS (
  SELECT
    run_id,
    command,
    outcome,
    started_at,
    try_element_at(counts, 'read') AS read_count,
    coalesce(try_element_at(counts, 'new'), CAST(0 AS BIGINT)) AS new_count,
    coalesce(try_element_at(counts, 'known'), CAST(0 AS BIGINT)) AS known_count,
    coalesce(try_element_at(counts, 'rejected'), CAST(0 AS BIGINT)) AS rejected_count,
    coalesce(try_element_at(counts, 'deferred'), CAST(0 AS BIGINT)) AS deferred_count,
    try_element_at(counts, 'missing') AS missing_count,
    try_element_at(counts, 'refused') AS refused_count
  FROM run
)
SELECT *
FROM counted
WHERE (read_count IS NULL AND command IN ('ingest', 'stream'))
  OR read_count <> new_count + known_count + rejected_count + deferred_count
  OR least(read_count, new_count, known_count, rejected_count, deferred_count, refused_count) < 0
  OR (outcome IN ('ok', 'found') AND missing_count <> read_count + refused_count)

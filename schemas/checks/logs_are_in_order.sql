-- Entries of logs in mode sort that do not stand behind the entry before them by time, clock id and address, or whose mark
-- tied is not that of their neighbours; and logs of two modes.
WITH placed AS (
  SELECT
    v.namespace,
    v.position,
    v.tied,
    struct(v.clock_time, v.clock_id) AS clock,
    struct(v.clock_time, encode(v.clock_id, 'UTF-16BE') AS clock_units, e.cid) AS place
  FROM ipfs_log_view AS v
  JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id
  WHERE v.mode = 'sort'
),
neighbours AS (
  SELECT
    namespace,
    position,
    tied,
    place,
    lag(place) OVER (PARTITION BY namespace ORDER BY position) AS place_before,
    clock <=> lag(clock) OVER (PARTITION BY namespace ORDER BY position)
      OR clock <=> lead(clock) OVER (PARTITION BY namespace ORDER BY position) AS is_tied
  FROM placed
)
SELECT namespace, position
FROM neighbours
WHERE place_before >= place OR tied <> is_tied
UNION ALL
SELECT namespace, CAST(NULL AS BIGINT)
FROM ipfs_log_view
GROUP BY namespace
HAVING count(DISTINCT mode) > 1

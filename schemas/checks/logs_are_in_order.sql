-- Entries of logs in mode sort that are not after the entry before them by time, clock id and address, or whose mark tied
-- contradicts their neighbours; and logs with two modes.
WITH placed AS (
  SELECT
    v.namespace,
    v.position,
    v.tied,
    struct(v.clock_time, v.clock_id) AS clock,
    struct(
      v.clock_time,
      encode(v.clock_id, 'UTF-16BE') AS clock_units,
      coalesce(
        e.cid,
        regexp_extract(decode(substring(p.skeleton, -49), 'ISO-8859-1'), '(z|Qm)[1-9A-HJ-NP-Za-km-z]+$', 0)
      ) AS cid
    ) AS place
  FROM ipfs_log_view AS v
  LEFT JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id
  LEFT JOIN pruned_record AS p ON p.namespace = v.namespace AND p.record_id = v.record_id AND p.form = 'remove'
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

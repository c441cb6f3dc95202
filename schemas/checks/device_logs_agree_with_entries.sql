-- Groups whose reduced rows contradict each other or their entries: messages or screws without a row, positions from 0 with a
-- gap, an order that is not that of clock, time and id, and a hash of the view that is not that of the messages before it.
-- Also groups that lack entries from which their state was reduced. Newer entries belong to the next reduction.
WITH complete AS (
  SELECT
    s.namespace,
    count_if(e.kind = 'msg') AS messages,
    count_if(e.kind = 'screw') AS screws,
    s.record_count - count(e.record_id) AS lost_entries
  FROM namespace_state AS s
  LEFT JOIN device_log_entry AS e ON e.namespace = s.namespace
  WHERE s.dialect = 'devicelog'
  GROUP BY s.namespace, s.record_count
  HAVING count(e.record_id) <= s.record_count
),
linked AS (
  SELECT
    namespace,
    position,
    record_id,
    prefix_hash,
    previous,
    struct(lamport, utc, record_id) AS place,
    row_number() OVER (PARTITION BY namespace ORDER BY position) - 1 AS counted,
    lag(record_id) OVER (PARTITION BY namespace ORDER BY position) AS before,
    lag(struct(lamport, utc, record_id)) OVER (PARTITION BY namespace ORDER BY position) AS place_before,
    coalesce(
      lag(prefix_hash) OVER (PARTITION BY namespace ORDER BY position),
      unhex(sha2(CAST(concat('27:strandline/devicelog/view/1,64:', substring(namespace, 7), ',') AS BINARY), 256))
    ) AS hash_before
  FROM device_log_view
  WHERE position IS NOT NULL
),
broken AS (
  SELECT
    namespace,
    count_if(
      position <> counted
      OR NOT (previous <=> before)
      OR place_before >= place
      OR prefix_hash <> unhex(sha2(CAST(concat(
        '32:strandline/devicelog/view-step/1,64:', lower(hex(hash_before)), ',64:', lower(hex(record_id)), ','
      ) AS BINARY), 256))
    ) AS broken_rows
  FROM linked
  GROUP BY namespace
),
placed AS (
  SELECT v.namespace, count(*) AS rows, count(e.record_id) AS messages
  FROM device_log_view AS v
  LEFT JOIN device_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id AND e.kind = 'msg'
  GROUP BY v.namespace
),
screwed AS (
  SELECT v.namespace, count(*) AS rows, count(e.record_id) AS screws
  FROM device_log_screw AS v
  LEFT JOIN device_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id AND e.kind = 'screw'
  GROUP BY v.namespace
)
SELECT
  c.namespace,
  c.lost_entries,
  c.messages,
  coalesce(p.rows, 0) AS view_rows,
  c.screws,
  coalesce(w.rows, 0) AS screw_rows,
  coalesce(b.broken_rows, 0) AS broken_rows
FROM complete AS c
LEFT JOIN placed AS p ON p.namespace = c.namespace
LEFT JOIN screwed AS w ON w.namespace = c.namespace
LEFT JOIN broken AS b ON b.namespace = c.namespace
WHERE c.lost_entries > 0
  OR coalesce(p.rows, 0) <> c.messages
  OR coalesce(p.messages, 0) <> c.messages
  OR coalesce(w.rows, 0) <> c.screws
  OR coalesce(w.screws, 0) <> c.screws
  OR coalesce(b.broken_rows, 0) > 0
